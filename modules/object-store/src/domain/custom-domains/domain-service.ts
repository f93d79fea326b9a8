import { createHmac, type KeyObject } from 'node:crypto';
import { isAppError } from '@svc/errors';
import type { Clock } from '@svc/runtime';
import { storeErrors } from '../../errors.ts';
import type { DomainCommands, DomainQueries, DomainRecord } from '../ports/custom-domains.ts';
import type { BucketRecord } from '../ports/records.ts';
import type { DomainDirectory } from './domain-directory.ts';
import { newDomainState, scheduleOf } from './domain-state.ts';
import type { DomainWorker } from './domain-worker.ts';
import { normalizeHostname } from './hostname.ts';

/** Minimum interval between checks that users trigger. */
const ASKED_CHECK_EVERY_MS = 10_000;

export interface DomainServiceOptions {
  metadata: DomainCommands & DomainQueries;
  directory: DomainDirectory;
  worker: DomainWorker;
  clock: Clock;
  /** Custom domains may not be at or below these names. */
  ownSuffixes: () => readonly string[];
  maxDomainsPerBucket: number;
}

export interface CustomDomainService {
  /**
   * Registering a name again returns the existing domain. If two buckets claim a name, the one that its CNAME points to
   * wins, so that a name cannot be withheld from its owner. Throws `InvalidHostname`, `DomainTaken` or
   * `TooManyDomains`.
   */
  register(
    bucket: BucketRecord,
    hostname: string,
    options?: { replaceOthers?: boolean },
  ): Promise<{ domain: DomainRecord; created: boolean }>;
  /** Throws `NoSuchDomain`. */
  find(hostname: string, workspaceUuid: string): Promise<DomainRecord>;
  /** Queries the name servers first, unless that was done recently. Throws `NoSuchDomain`. */
  check(hostname: string, workspaceUuid: string): Promise<DomainRecord>;
  list(workspaceUuid: string, bucket: Pick<BucketRecord, 'id'> | null): Promise<readonly DomainRecord[]>;
  /** The domain stops serving at once. Throws `NoSuchDomain`. */
  remove(hostname: string, workspaceUuid: string): Promise<void>;
}

/** Maximum number of domains in one response. Buckets and domains per workspace are limited, and so is this. */
const MOST_LISTED = 10_000;

export function createDomainService(options: DomainServiceOptions): CustomDomainService {
  const { metadata, directory, worker, clock, ownSuffixes, maxDomainsPerBucket } = options;
  const nameOf = (hostname: string): string => normalizeHostname(hostname, ownSuffixes());

  const find = async (hostname: string, workspaceUuid: string): Promise<DomainRecord> => {
    const found = await metadata.findDomain({ hostname: nameOf(hostname) });
    if (found?.workspaceUuid !== workspaceUuid) throw storeErrors.NoSuchDomain({ details: { resource: hostname } });
    return found;
  };
  return {
    register: async (bucket, wanted, { replaceOthers = false } = {}) => {
      const hostname = nameOf(wanted);
      const nowMs = clock.nowMs();
      const state = newDomainState();
      const facts = { createdAtMs: nowMs, nowMs, certificate: null, needsCertificate: worker.needsCertificate };
      const schedule = { ...scheduleOf(state, facts), nextCheckAtMs: nowMs };
      const { id: bucketId } = bucket;
      const limits = { maxDomains: maxDomainsPerBucket, replaceOthers };
      const input = { hostname, bucketId, nowMs, state, schedule, ...limits, proven: false };
      const registered = await metadata.registerDomain(input).catch(async (error: unknown) => {
        if (!isTaken(error) || !(await worker.leadsTo(hostname, bucketId))) throw error;
        return await metadata.registerDomain({ ...input, proven: true });
      });
      if (replaceOthers) directory.forgetAll();
      worker.wake();
      return registered;
    },
    find,
    check: async (hostname, workspaceUuid) => {
      const found = await find(hostname, workspaceUuid);
      if (found.blocked) return found;
      const { lastCheckedAtMs } = found.state;
      if (lastCheckedAtMs !== null && clock.nowMs() - lastCheckedAtMs < ASKED_CHECK_EVERY_MS) return found;
      await worker.checkNow(found.hostname, clock.nowMs() - ASKED_CHECK_EVERY_MS);
      return await find(hostname, workspaceUuid);
    },
    list: (workspaceUuid, bucket) =>
      metadata.listDomains({ workspaceUuid, bucketId: bucket?.id ?? null, after: '', limit: MOST_LISTED }),
    remove: async (hostname, workspaceUuid) => {
      const name = nameOf(hostname);
      const removed = await metadata.removeDomain({ hostname: name, workspaceUuid });
      directory.forget(name);
      if (!removed) throw storeErrors.NoSuchDomain({ details: { resource: hostname } });
    },
  };
}

function isTaken(error: unknown): boolean {
  return isAppError(error) && error.code === 'DomainTaken';
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The CNAME target of a bucket. Only users who can see the bucket's domains learn it, so a CNAME to it proves that its
 * author means this bucket; and a leftover CNAME never points to someone else's bucket.
 */
export function cnameTarget(bucketId: number, cnameDomain: string, installationKey: KeyObject): string {
  const digest = createHmac('sha256', installationKey).update(`custom-domain/${bucketId}`).digest();
  const label = [...digest.subarray(0, 26)].map((byte) => BASE32[byte & 31] ?? '').join('');
  return `${label}.${cnameDomain}`;
}
