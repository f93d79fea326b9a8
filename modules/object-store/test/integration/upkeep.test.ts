import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@svc/runtime';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CrcKernel } from '../../src/domain/checksums/crc-kernel.ts';
import { Scrubber } from '../../src/domain/scrub/scrubber.ts';
import { ActiveReads } from '../../src/domain/active-reads.ts';
import { Janitor } from '../../src/domain/janitor.ts';
import { createLayout } from '../../src/adapters/engines/embedded/layout.ts';
import type { MetadataStore } from '../../src/domain/ports/metadata-store.ts';
import { startStore, testConfig, type RunningStore } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const Bucket = 'kept';
const FAST = 1e12;

describe('maintenance of stored bytes', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let client: S3Client;
  let metrics: Metrics;
  let scrubber: Scrubber;
  beforeEach(async () => {
    folder = await temporaryFolder();
    // Unencrypted, so that a blob has the size of its object.
    const config = { trash_grace_seconds: 0, sweep_grace_seconds: 0, default_encryption: 'none' } as const;
    store = await startStore(folder.path, { config });
    client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    metrics = createMetrics();
    scrubber = new Scrubber({
      metadata: store.metadata,
      blobs: store.blobs,
      kernel: new CrcKernel(),
      log: createLogger({ level: 'silent', name: 'test' }),
      metrics,
      clock: systemClock,
    });
    await client.send(new CreateBucketCommand({ Bucket }));
  });
  afterEach(async () => {
    client.destroy();
    await store.close();
    await folder.remove();
  });

  const put = async (Key: string): Promise<{ blobId: string; file: string }> => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(200_000) }));
    const bucketId = (await store.metadata.findBucket({ name: Bucket }))?.id ?? 0;
    const location = (await store.metadata.findObject({ bucketId, key: Key }))?.version.location;
    if (location?.kind !== 'blob') throw new Error('it is not a blob');
    return { blobId: location.blobId, file: createLayout(join(folder.path, 'objects')).blobFile(location.blobId) };
  };
  const read = async (Key: string) =>
    (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray();
  const get = (Key: string) => catchRefusal(read(Key));
  const scrubAll = () => scrubber.scrub({ beforeMs: Date.now() + 1, bytesPerSecond: FAST });
  const flipByte = async (file: string): Promise<void> => {
    const bytes = await readFile(file);
    bytes[100_000] = (bytes[100_000] ?? 0) ^ 1;
    await writeFile(file, bytes);
  };

  it('removes deleted bytes in the background until it is closed', async () => {
    const { file } = await put('deleted');
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'deleted' }));
    expect(existsSync(file)).toBe(true);
    await store.module.start(new AbortController().signal);
    await waitFor(() => !existsSync(file), { description: 'the first round' });
  });

  it('verifies every blob once and finds nothing wrong in an intact store', async () => {
    for (const key of ['a', 'b', 'c']) await put(key);
    expect(await scrubAll()).toEqual({ verified: 3, bytes: 600_000, learned: 0, unreadable: 0, findings: [] });
    const nothingDue = await scrubber.scrub({ beforeMs: Date.now() - 60_000, bytesPerSecond: FAST });
    expect(nothingDue.verified).toBe(0);
    expect(await store.module.fsck()).toMatchObject({ clean: true, blobsFound: 3, blobsNeeded: 3 });
  });

  it('quarantines a damaged blob, names its objects, and tells it from a lost one in fsck', async () => {
    const changed = await put('changed');
    const lost = await put('lost');
    const cut = await put('cut');
    await put('whole');
    const original = await readFile(changed.file);
    await flipByte(changed.file);
    await truncate(cut.file, 150_000);
    await unlink(lost.file);
    const { findings } = await scrubAll();
    const named = Object.fromEntries(findings.map(({ state, objects }) => [objects[0]?.key, state]));
    expect(named).toEqual({ changed: 'damaged', cut: 'damaged', lost: 'missing' });
    for (const key of ['changed', 'lost', 'cut']) expect(await get(key)).toEqual({ code: 'DataLost', status: 500 });
    expect(await get('whole')).toMatchObject({ code: 'none' });
    const report = await store.module.fsck();
    expect(report.clean).toBe(false);
    expect(report.missing).toEqual([lost.blobId]);
    expect(report.quarantined.toSorted()).toEqual([changed.blobId, cut.blobId].toSorted());
    expect(await metrics.render()).toContain('svc_object_store_scrub_blobs_total{state="damaged"} 2');
    // Nothing is deleted: a quarantined blob can be inspected and, as here, put back.
    const aside = createLayout(join(folder.path, 'objects')).quarantineFile(changed.blobId);
    expect((await readFile(aside)).length).toBe(original.length);
    await writeFile(changed.file, original);
    await scrubAll();
    expect(await get('changed')).toMatchObject({ code: 'none' });
    expect((await store.module.fsck()).quarantined).toEqual([cut.blobId]);
  });

  it('sweeps blobs that a crash left, but none if the database is older than the blobs', async () => {
    await store.close();
    const { limits } = testConfig();
    const config = { trash_grace_seconds: 0, sweep_grace_seconds: 0, limits: { ...limits, uploads_in_flight: 2 } };
    store = await startStore(folder.path, { config });
    const leave = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) await (await store.blobs.create()).seal();
    };
    const found = async () => (await store.module.fsck()).blobsFound;
    await leave(3);
    await store.module.maintain();
    expect(await found()).toBe(3);
    for await (const { id } of store.blobs.list()) await store.blobs.remove(id);
    await leave(2);
    await store.module.maintain();
    expect(await found()).toBe(0);
  });

  it('keeps what another replica sends to a slow client until it is sent', async () => {
    await store.close();
    const config = { trash_grace_seconds: 0, sweep_grace_seconds: 0, default_encryption: 'none' } as const;
    store = await startStore(folder.path, { config, sharesDatabase: true });
    client.destroy();
    client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    await client.send(new CreateBucketCommand({ Bucket: 'slow' }));
    const body = randomBytes(24 * 1024 * 1024);
    await putInParts(client, { Bucket: 'slow', Key: 'large' }, body);
    const stop = new AbortController();
    await store.module.start(stop.signal);
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'slow', Key: 'large' }));
    const reader = Body?.transformToWebStream().getReader();
    const first = await reader?.read();
    await client.send(new DeleteObjectCommand({ Bucket: 'slow', Key: 'large' }));

    const { metadata, blobs } = store;
    await expect.poll(() => metadata.dueTrash({ nowMs: Date.now(), limit: 10 }), { timeout: 10_000 }).toEqual([]);
    const log = createLogger({ level: 'silent', name: 'test' });
    const clock = systemClock;
    const activeReads = new ActiveReads(clock.nowMs); // of a replica that reads nothing
    const other = new Janitor(
      { metadata, blobs, activeReads, config: testConfig(config), clock, log },
      { takeUses: () => ({}) },
    );
    expect(await other.emptyTrash()).toBe(0);

    const received: Uint8Array[] = first?.value === undefined ? [] : [first.value];
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) received.push(next.value);
    expect(Buffer.concat(received).equals(body)).toBe(true);
    stop.abort();
    const later = { ...clock, nowMs: () => clock.nowMs() + 60_000 };
    const late = new Janitor(
      { metadata, blobs, activeReads, config: testConfig(config), clock: later, log },
      { takeUses: () => ({}) },
    );
    expect(await late.emptyTrash()).toBe(1);
  });

  it('acknowledges no write whose bytes it swept before their row was written', async () => {
    const write = store.metadata.putObject.bind(store.metadata);
    const sealed = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    store.metadata.putObject = async (input) => {
      sealed.resolve();
      await awake.promise; // as a process that is paused for longer than the grace period
      return await write(input);
    };
    const answer = catchRefusal(client.send(new PutObjectCommand({ Bucket, Key: 'late', Body: randomBytes(200_000) })));
    await sealed.promise;
    await store.module.maintain();
    awake.resolve();
    expect(await answer).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
    expect(await get('late')).toMatchObject({ code: 'NoSuchKey' });
  });

  it('allows another engine only while the store holds no blob', async () => {
    const { s3 } = testConfig();
    const upstream = { ...s3, endpoint: 'http://127.0.0.1:1', bucket: 'other' };
    const keys = { access_key_id: 'none', secret_access_key: 'none' };
    const config = { engine: 's3', s3: { ...upstream, ...keys } } as const;
    await store.close();
    store = await startStore(folder.path, { config });
    await store.close();
    store = await startStore(folder.path);
    client.destroy();
    client = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    await client.send(new CreateBucketCommand({ Bucket: 'with-a-blob' }));
    await client.send(new PutObjectCommand({ Bucket: 'with-a-blob', Key: 'a', Body: randomBytes(100_000) }));
    await store.close();
    await expect(startStore(folder.path, { config })).rejects.toMatchObject({ code: 'EngineChanged' });
    store = await startStore(folder.path);
  });

  it('refuses the embedded engine of another folder', async () => {
    const file = join(folder.path, 'objects', 'folder-id');
    const id = await readFile(file, 'utf8');
    await store.close();
    await writeFile(file, `${'0'.repeat(32)}\n`);
    await expect(startStore(folder.path)).rejects.toMatchObject({ code: 'EngineElsewhere' });
    await writeFile(file, id);
    store = await startStore(folder.path);
  });

  it('resumes scrubbing where it stopped', async () => {
    for (let index = 0; index < 40; index += 1) await put(`many-${index}`);
    const stop = new AbortController();
    const beforeMs = Date.now() + 1;
    const metadata: MetadataStore = {
      ...store.metadata,
      noteVerified: async (input) => {
        stop.abort();
        await store.metadata.noteVerified({ ...input, nowMs: beforeMs });
      },
    };
    const log = createLogger({ level: 'silent', name: 'test' });
    const parts = { metadata, blobs: store.blobs, kernel: new CrcKernel(), log, metrics: createMetrics() };
    const first = await new Scrubber({ ...parts, clock: systemClock }).scrub({
      beforeMs,
      bytesPerSecond: FAST,
      signal: stop.signal,
    });
    const second = await scrubber.scrub({ beforeMs, bytesPerSecond: FAST });
    expect(first.verified).toBeGreaterThan(0);
    expect(first.verified).toBeLessThan(40);
    expect(first.verified + second.verified).toBe(40);
  });

  it('answers DataLost where bytes are missing, and still serves an intact range', async () => {
    const { file } = await put('cut');
    await truncate(file, 150_000);
    expect(await get('cut')).toEqual({ code: 'DataLost', status: 500 });
    const head = await client.send(new GetObjectCommand({ Bucket, Key: 'cut', Range: 'bytes=0-99999' }));
    expect((await head.Body?.transformToByteArray())?.length).toBe(100_000);
  });
});

/** Uploads a body in three parts, so that its bytes are read from several blobs. */
async function putInParts(client: S3Client, target: { Bucket: string; Key: string }, body: Buffer): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  const length = Math.ceil(body.length / 3);
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  for (const PartNumber of [1, 2, 3]) {
    const Body = body.subarray((PartNumber - 1) * length, PartNumber * length);
    const { ETag } = await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
}
