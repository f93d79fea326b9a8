import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FoundObject, NewContent } from '../../src/domain/ports/objects.ts';
import type { BucketRecord } from '../../src/domain/ports/records.ts';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, tenantLimits, type OpenMetadata } from '../support/metadata-bench.ts';

type Limit = Parameters<typeof tenantLimits>[1];

/** Contract for forks of buckets, run against every metadata store. */
export function describeForks(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const inline = (text: string) => ({ kind: 'inline', data: Buffer.from(text) }) as const;

  const begin = (limits: Limit = {}, name = 'fork', sourceId = bench.bucket.id): Promise<BucketRecord> => {
    const { workspaceUuid } = bench;
    const id = randomBytes(6).readUIntBE(0, 6);
    const tenant = tenantLimits(workspaceUuid, limits);
    return bench.store.forkBucket({ id, name, workspaceUuid, sourceId, nowMs: NOW_MS, tenant });
  };
  const copy = ({ id: bucketId, workspaceUuid }: BucketRecord, limit = 2): Promise<boolean> =>
    bench.store.copyToFork({ bucketId, workspaceUuid, limit, nowMs: NOW_MS });
  const complete = async (fork: BucketRecord): Promise<void> => {
    while (!(await copy(fork)));
  };
  const forked = async (limits?: Limit): Promise<BucketRecord> => {
    const fork = await begin(limits);
    await complete(fork);
    return fork;
  };
  const find = (bucketId: number, key: string) => bench.store.findObject({ bucketId, key });
  const textOf = (found: FoundObject | null) => Buffer.from(found?.inline ?? []).toString();
  const read = async (bucketId: number, key: string): Promise<string | null> => {
    const found = await find(bucketId, key);
    return found === null || found.version.deleteMarker ? null : textOf(found);
  };
  const keysOf = async (bucketId: number): Promise<string[]> => {
    const page = { bucketId, prefix: '', delimiter: '', after: '', limit: 1_000, versioned: true };
    return (await bench.store.listObjects(page)).objects.map(({ key }) => key);
  };
  const expectNoDrift = async (): Promise<void> => {
    const rows = await bench.store.usageDrift({ after: -1, limit: 100 });
    expect(rows.filter(({ counted, actual }) => !isDeepStrictEqual(counted, actual))).toEqual([]);
  };
  const putIn = (bucketId: number, key: string, content: NewContent) => bench.put(key, content, { bucketId });

  describe('forks of buckets', () => {
    it('copies every current object with its attributes and time, in any number of steps', async () => {
      for (let index = 0; index < 7; index += 1) await bench.put(`inline/${index}`, inline(`text ${index}`));
      const { blobId } = await bench.putBlob('blob');
      await bench.put('empty');
      const attributes = { contentType: 'image/png', metadata: { who: 'me' }, tags: { a: 'b' } };
      await bench.put('with', inline('x'), { attributes, nowMs: NOW_MS - 5_000 });
      const fork = await forked();
      expect(await keysOf(fork.id)).toEqual(await keysOf(bench.bucket.id));
      for (let index = 0; index < 7; index += 1) expect(await read(fork.id, `inline/${index}`)).toBe(`text ${index}`);
      expect((await find(fork.id, 'blob'))?.version.location).toEqual({ kind: 'blob', blobId });
      const { version } = (await find(bench.bucket.id, 'with')) ?? {};
      expect((await find(fork.id, 'with'))?.version).toEqual({
        ...version,
        bucketId: fork.id,
        location: { kind: 'inline', inlineId: expect.any(Number) },
      });
      const record = await bench.store.findFork({ name: 'fork', workspaceUuid: bench.workspaceUuid });
      expect(record).toMatchObject({ sourceName: 'first', finishedAtMs: NOW_MS, objectCount: 10, copiedCount: 10 });
      expect(record?.bucket.state).toBe('active');
      await expectNoDrift();
    });

    it('keeps both sides apart after the fork', async () => {
      await bench.put('a', inline('one'));
      await bench.put('b', inline('one'));
      const fork = await forked();
      await bench.put('a', inline('origin'));
      await putIn(fork.id, 'b', inline('fork'));
      await putIn(fork.id, 'new', inline('fork'));
      await bench.remove('b');
      expect([await read(bench.bucket.id, 'a'), await read(fork.id, 'a')]).toEqual(['origin', 'one']);
      expect([await read(bench.bucket.id, 'b'), await read(fork.id, 'b')]).toEqual([null, 'fork']);
      expect(await keysOf(bench.bucket.id)).toEqual(['a']);
      await expectNoDrift();
    });

    it('shows the source as it was when the fork began, whatever changes meanwhile', async () => {
      const keys = Array.from({ length: 12 }, (_, index) => `key-${String(index).padStart(2, '0')}`);
      for (const key of keys) await bench.put(key, inline(`old ${key}`));
      const fork = await begin();
      await copy(fork, 4); // through key-03
      await bench.put('key-01', inline('new')); // copied already
      await bench.put('key-05', inline('new'));
      await bench.put('key-05', inline('newer'));
      await bench.remove('key-06');
      await bench.put('key-06', inline('again'));
      await bench.remove('key-11'); // the last one
      await bench.put('key-055', inline('did not exist'));
      await bench.put('zzz', inline('did not exist'));
      const tagged = { bucketId: bench.bucket.id, key: 'key-08', changes: { tags: { late: 'yes' } } };
      await bench.store.changeAttributes(tagged);
      await complete(fork);
      expect(await keysOf(fork.id)).toEqual(keys);
      for (const key of keys) expect(await read(fork.id, key)).toBe(`old ${key}`);
      expect((await find(fork.id, 'key-08'))?.version.attributes.tags).toBeUndefined();
      expect(await bench.store.findFork({ name: 'fork', workspaceUuid: bench.workspaceUuid })).toMatchObject({
        objectCount: 12,
        copiedCount: 12,
      });
      await expectNoDrift();
    });

    it('is consistent under concurrent writers', async () => {
      const keys = Array.from({ length: 60 }, (_, index) => `key-${String(index).padStart(2, '0')}`);
      await Promise.all(keys.map((key) => bench.put(key, inline('old'))));
      const fork = await begin();
      const writes = keys
        .toReversed()
        .flatMap((key) => [bench.put(key, inline('new')), bench.put(`${key}+`, inline('x'))]);
      await Promise.all([...writes, complete(fork), complete(fork)]);
      expect(await keysOf(fork.id)).toEqual(keys);
      expect(new Set(await Promise.all(keys.map((key) => read(fork.id, key))))).toEqual(new Set(['old']));
      await expectNoDrift();
    });

    it('copies only current versions, under their ids, and keeps versioning on', async () => {
      await bench.store.setVersioning({ bucketId: bench.bucket.id, versioning: 'enabled' });
      await bench.put('a', inline('first'));
      const { versionId } = await bench.put('a', inline('second'));
      await bench.put('gone', inline('x'));
      await bench.remove('gone');
      const fork = await forked();
      expect(fork.versioning).toBe('enabled');
      expect(await keysOf(fork.id)).toEqual(['a']);
      const found = await bench.store.findObject({ bucketId: fork.id, key: 'a', versionId });
      expect(textOf(found)).toBe('second');
      expect(await bench.store.findObject({ bucketId: fork.id, key: 'gone' })).toBeNull();
      await bench.store.deleteObject({
        bucketId: fork.id,
        key: 'a',
        nowMs: NOW_MS,
        versionToken: 'token',
        trashDueAtMs: DUE_MS,
        conditions: {},
      });
      expect(await read(bench.bucket.id, 'a')).toBe('second');
      await expectNoDrift();
    });

    it('copies neither ACLs nor locks, and of the configuration only the encryption', async () => {
      const { id: bucketId } = bench.bucket;
      const at = { bucketId, nowMs: NOW_MS };
      const document = JSON.stringify({ algorithm: 'AES256' });
      await bench.store.setBucketEncryption({ ...at, encryptionMode: 'sse-s3', document });
      await bench.store.putBucketDocument({ ...at, name: 'policy', document: '{}' });
      await bench.store.putBucketDocument({ ...at, name: 'settings', document: '{"publicDefault":true}' });
      const open = { contentType: 'a/b', accessControlList: '{}', metadata: { kept: 'yes' } };
      await bench.put('public', inline('x'), { attributes: open });
      await bench.put('held', inline('y'), { attributes: { contentType: 'a/b', legalHold: true } });
      const retention = { mode: 'COMPLIANCE', untilMs: LATER_MS } as const;
      await bench.put('kept', inline('z'), { attributes: { contentType: 'a/b', retention } });
      const fork = await forked();
      expect(fork.encryptionMode).toBe('sse-s3');
      expect(await bench.store.bucketDocuments({ bucketId: fork.id })).toEqual({ encryption: document });
      const plain = { contentType: 'a/b' };
      expect((await find(fork.id, 'public'))?.version.attributes).toEqual({ ...plain, metadata: { kept: 'yes' } });
      expect((await find(fork.id, 'held'))?.version.attributes).toEqual(plain);
      expect((await find(fork.id, 'kept'))?.version.attributes).toEqual(plain);
      await bench.store.softDeleteBucket({ bucketId: fork.id, nowMs: NOW_MS, purgeAtMs: NOW_MS });
    });

    it('releases a blob only when neither side needs it', async () => {
      const { blobId } = await bench.putBlob('blob');
      const fork = await begin();
      await bench.remove('blob'); // before it was copied
      expect(await bench.trash()).toEqual([]);
      await complete(fork);
      expect((await find(fork.id, 'blob'))?.version.location).toEqual({ kind: 'blob', blobId });
      expect(await bench.trash()).toEqual([]);
      await bench.store.deleteObject({
        bucketId: fork.id,
        key: 'blob',
        nowMs: NOW_MS,
        versionToken: 'token',
        trashDueAtMs: DUE_MS,
        conditions: {},
      });
      expect(await bench.trash()).toEqual([blobId]);
      await expectNoDrift();
    });

    it('hides the bucket until it is complete, keeps its name, and shows its progress', async () => {
      for (const key of ['a', 'b', 'c']) await bench.put(key, inline(key));
      const fork = await begin();
      await copy(fork, 2);
      expect(fork.state).toBe('forking');
      expect(await bench.store.findBucket({ name: 'fork' })).toBeNull();
      await expect(putIn(fork.id, 'x', inline('x'))).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await expect(bench.createBucket('fork', bench.workspaceUuid)).rejects.toMatchObject({ status: 409 });
      await expect(begin()).rejects.toMatchObject({ code: 'BucketAlreadyOwnedByYou' });
      const named = { name: 'fork', workspaceUuid: bench.workspaceUuid };
      expect(await bench.store.findFork(named)).toMatchObject({ copiedCount: 2, objectCount: 3, finishedAtMs: null });
      expect(await bench.store.findFork({ ...named, workspaceUuid: 'another' })).toBeNull();
      await expect(bench.store.restoreBucket({ ...named, nowMs: NOW_MS })).rejects.toMatchObject({ status: 409 });
      await expectNoDrift();
      expect(await bench.store.openForks({ limit: 10 })).toEqual([
        { bucketId: fork.id, workspaceUuid: bench.workspaceUuid },
      ]);
      await complete(fork);
      expect(await bench.store.openForks({ limit: 10 })).toEqual([]);
      expect(await bench.store.findBucket({ name: 'fork' })).toMatchObject({ id: fork.id });
    });

    it('admits the usage before it copies, exactly', async () => {
      await bench.store.setVersioning({ bucketId: bench.bucket.id, versioning: 'enabled' });
      await bench.putBlob('a');
      await bench.put('b', inline('12345'));
      await bench.put('b', inline('1234567890')); // 1,015 bytes and 3 versions so far; 1,010 and 2 of them current
      const refuses = async (limits: Limit, details: object) => {
        await expect(begin(limits)).rejects.toMatchObject({ details });
        expect(await bench.store.findFork({ name: 'fork', workspaceUuid: bench.workspaceUuid })).toBeNull();
      };
      await refuses({ stored_bytes: 2_024 }, { quota: 'stored_bytes', current: 1_015, requested: 1_010 });
      await refuses({ stored_objects: 4 }, { quota: 'stored_objects', current: 3, requested: 2 });
      await refuses({ buckets: 1 }, { limit: 1 });
      const fork = await begin({ stored_bytes: 2_025, stored_objects: 5, buckets: 2 });
      const used = { stored_bytes: 2_025, stored_objects: 5, buckets: 2 };
      const { workspaceUuid } = bench;
      expect(await bench.store.quotaUsage({ workspaceUuid })).toEqual(used); // reserved
      await complete(fork);
      expect(await bench.store.quotaUsage({ workspaceUuid })).toEqual(used);
      await expectNoDrift();
    });

    it('can be given up, and then leaves nothing', async () => {
      const { blobId } = await bench.putBlob('a');
      for (const key of ['b', 'c', 'd']) await bench.put(key, inline(key));
      const fork = await begin();
      await copy(fork, 2);
      await bench.remove('d');
      expect(await bench.store.abandonFork({ bucketId: fork.id, nowMs: NOW_MS })).toBe(true);
      expect(await bench.store.abandonFork({ bucketId: fork.id, nowMs: NOW_MS })).toBe(false);
      expect(await copy(fork)).toBe(true);
      await expectNoDrift();
      expect(await bench.store.bucketsToPurge({ nowMs: NOW_MS, limit: 10 })).toEqual([fork.id]);
      const purge = { bucketId: fork.id, nowMs: NOW_MS, limit: 2, trashDueAtMs: DUE_MS };
      while (!(await bench.store.purgeBucket(purge)));
      expect(await bench.store.findBucketById({ bucketId: fork.id })).toBeNull();
      expect(await bench.trash()).toEqual([]);
      expect((await find(bench.bucket.id, 'a'))?.version.location).toEqual({ kind: 'blob', blobId });
      expect(await bench.store.quotaUsage({ workspaceUuid: bench.workspaceUuid })).toMatchObject({
        stored_bytes: 1_002,
        buckets: 1,
      });
      await bench.createBucket('fork', bench.workspaceUuid);
    });

    it('completes although its source was deleted meanwhile, which is purged afterwards', async () => {
      for (const key of ['a', 'b', 'c']) await bench.put(key, inline(key));
      const fork = await begin();
      const { id: bucketId } = bench.bucket;
      await bench.store.softDeleteBucket({ bucketId, nowMs: NOW_MS, purgeAtMs: NOW_MS });
      const purge = { bucketId, nowMs: NOW_MS, limit: 10, trashDueAtMs: DUE_MS };
      expect(await bench.store.purgeBucket(purge)).toBe(true);
      expect(await keysOf(bucketId)).toHaveLength(3);
      await complete(fork);
      expect(await keysOf(fork.id)).toEqual(['a', 'b', 'c']);
      await bench.store.purgeBucket(purge);
      expect(await bench.store.findBucketById({ bucketId })).toBeNull();
      expect(await read(fork.id, 'b')).toBe('b');
    });

    it('forks a fork, and several times at once', async () => {
      for (const key of ['a', 'b', 'c']) await bench.put(key, inline(key));
      const [one, two] = [await begin({}, 'one'), await begin({}, 'two')];
      await bench.put('b', inline('later'));
      await Promise.all([complete(one), complete(two)]);
      const three = await begin({}, 'three', one.id);
      await complete(three);
      for (const { id } of [one, two, three]) expect(await read(id, 'b')).toBe('b');
      await expectNoDrift();
    });

    it('refuses a source that does not exist', async () => {
      await expect(begin({}, 'fork', 1)).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await bench.store.softDeleteBucket({ bucketId: bench.bucket.id, nowMs: NOW_MS, purgeAtMs: LATER_MS });
      await expect(begin()).rejects.toMatchObject({ code: 'NoSuchBucket' });
    });
  });
}
