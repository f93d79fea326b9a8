import type { Metrics } from '@svc/telemetry';
import type { HashingDeps } from '../domain/checksums/body-hasher.ts';
import { ActiveReads } from '../domain/active-reads.ts';
import { ReadCache } from '../domain/content/read-cache.ts';
import { createIdentifiers } from '../domain/identifiers.ts';
import type { StoreDeps } from '../domain/store-deps.ts';
import { S3Audit } from '../s3/s3-audit.ts';
import type { S3Oversight } from '../s3/s3-context.ts';
import type { ObjectStoreDependencies } from './dependencies.ts';

/** What the services of the domain need from outside. */
export function createStoreDeps(dependencies: ObjectStoreDependencies, hashing: HashingDeps): StoreDeps {
  const { metadata, blobs, owners, rights, webhooks, keyRing, config, log, clock, random } = dependencies;
  const { quotaLimits, workspaceTraffic, disk, metrics } = dependencies;
  // The embedded engine reads files, which the operating system caches.
  const readCache = new ReadCache(config.engine === 's3' ? config.s3.read_cache_bytes : 0);
  observeReadCache(metrics, readCache);
  return {
    workspaceTraffic,
    disk,
    metadata,
    blobs,
    readCache,
    owners,
    rights,
    webhooks,
    quotaLimits,
    config,
    log,
    clock,
    random,
    hashing,
    secrets: keyRing,
    identifiers: createIdentifiers(random),
    activeReads: new ActiveReads(() => clock.nowMs()),
  };
}

function observeReadCache(metrics: Metrics, cache: ReadCache): void {
  const size = metrics.gauge('svc_object_store_read_cache_bytes', 'Content that is in memory for repeated reads');
  const reads = metrics.counter(
    'svc_object_store_read_cache_reads_total',
    'Reads of up to 1 MiB of a blob, by whether its content was in memory',
    ['outcome'],
  );
  metrics.onScrape(() => {
    const { sizeBytes, hits, misses } = cache.figures();
    size.set(sizeBytes);
    reads.reset();
    reads.inc({ outcome: 'hit' }, hits);
    reads.inc({ outcome: 'miss' }, misses);
  });
}

/** What audits and ends requests of the S3 plane. */
export function createOversight(dependencies: ObjectStoreDependencies): S3Oversight {
  const { audit, metadata, heldRights: rights, log, metrics, clock } = dependencies;
  return { audit: new S3Audit({ audit, metadata, log, metrics, clock }), rights };
}
