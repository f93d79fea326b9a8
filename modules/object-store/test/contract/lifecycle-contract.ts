import { describe, expect, it } from 'vitest';
import { DUE_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for leases and lifecycle queries, run against every metadata store. */
export function describeLifecycle(open: OpenMetadata): void {
  const bench = metadataBench(open);

  describe('leases', () => {
    it('belong to one holder until they expire or are released', async () => {
      const lease = { name: 'work', holder: 'one', nowMs: NOW_MS, untilMs: NOW_MS + 10 };
      const other = { ...lease, holder: 'two' };
      expect(await bench.store.takeLease(lease)).toBe(true);
      expect(await bench.store.takeLease(other)).toBe(false);
      expect(await bench.store.takeLease({ ...lease, untilMs: NOW_MS + 20 })).toBe(true);
      expect(await bench.store.takeLease({ ...other, nowMs: NOW_MS + 19 })).toBe(false);
      const held = { name: 'work', holder: 'one', untilMs: NOW_MS + 20 };
      expect(await bench.store.workLeases({ nowMs: NOW_MS + 19 })).toEqual([held]);
      expect(await bench.store.workLeases({ nowMs: NOW_MS + 20 })).toEqual([]);
      await bench.store.releaseLease({ name: 'work', holder: 'two' });
      expect(await bench.store.takeLease({ ...other, nowMs: NOW_MS + 19 })).toBe(false);
      expect(await bench.store.takeLease({ ...other, nowMs: NOW_MS + 20, untilMs: NOW_MS + 30 })).toBe(true);
      await bench.store.releaseLease({ name: 'work', holder: 'two' });
      expect(await bench.store.takeLease(lease)).toBe(true);
    });
  });

  describe('lifecycle queries', () => {
    it('list active buckets with lifecycle rules, page by page', async () => {
      const others = [];
      for (const name of ['second', 'third']) others.push(await bench.createBucket(name, bench.workspaceUuid));
      const buckets = [bench.bucket, ...others].toSorted((left, right) => left.id - right.id);
      for (const { id: bucketId } of buckets) {
        await bench.store.putBucketDocument({ bucketId, name: 'lifecycle', document: '{}', nowMs: NOW_MS });
      }
      const ids = async (afterBucketId: number, limit = 10) =>
        (await bench.store.bucketsWithLifecycle({ afterBucketId, limit })).map(({ id }) => id);
      const expected = buckets.map(({ id }) => id);
      expect(await ids(-1)).toEqual(expected);
      expect(await ids(expected[0] ?? 0, 1)).toEqual(expected.slice(1, 2));
      const [first, second] = expected;
      await bench.store.putBucketDocument({ bucketId: first ?? 0, name: 'lifecycle', document: null, nowMs: NOW_MS });
      await bench.store.deleteBucket({ bucketId: second ?? 0, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      expect(await ids(-1)).toEqual(expected.slice(2));
    });

    it('list all versions under a prefix by key, newest first, and resume after any of them', async () => {
      const { id: bucketId } = bench.bucket;
      await bench.store.setVersioning({ bucketId, versioning: 'enabled' });
      for (const [key, count] of [
        ['a', 1],
        ['p/1', 3],
        ['p/2', 1],
        ['q', 1],
      ] as const) {
        for (let index = 0; index < count; index += 1) {
          const attributes = { contentType: 'x', tags: { number: String(index) } };
          await bench.put(
            key,
            { kind: 'inline', data: Buffer.alloc(index + 1) },
            { attributes, versionToken: `v${index}` },
          );
        }
      }
      await bench.remove('p/2');
      const query = { bucketId, prefix: 'p/', afterKey: '', afterOrderKey: null, limit: 10 };
      const all = await bench.store.agingVersions(query);
      expect(all.map(({ key, sizeBytes, isLatest, deleteMarker }) => [key, sizeBytes, isLatest, deleteMarker])).toEqual(
        [
          ['p/1', 3, true, false],
          ['p/1', 2, false, false],
          ['p/1', 1, false, false],
          ['p/2', 0, true, true],
          ['p/2', 1, false, false],
        ],
      );
      expect(all[0]).toMatchObject({ tags: { number: '2' }, modifiedAtMs: NOW_MS });
      expect(all[3]?.tags).toEqual({});
      for (const [index, version] of all.entries()) {
        const rest = { ...query, afterKey: version.key, afterOrderKey: version.orderKey };
        expect(await bench.store.agingVersions(rest)).toEqual(all.slice(index + 1));
      }
      expect(await bench.store.agingVersions({ ...query, afterKey: 'p/1' })).toEqual(all.slice(3));
      expect(await bench.store.agingVersions({ ...query, limit: 2 })).toEqual(all.slice(0, 2));
    });

    it('list open uploads of all buckets, oldest first', async () => {
      const { id: other } = await bench.createBucket('second', bench.workspaceUuid);
      const uploads = [
        { uploadId: 'c', bucketId: other, nowMs: NOW_MS },
        { uploadId: 'b', bucketId: bench.bucket.id, nowMs: NOW_MS + 1 },
        { uploadId: 'a', bucketId: bench.bucket.id, nowMs: NOW_MS + 1 },
        { uploadId: 'd', bucketId: other, nowMs: NOW_MS + 5 },
      ];
      const rest = { key: 'k', initiator: 'i', attributes: { contentType: 'x' }, checksumAlgorithm: null };
      for (const upload of uploads) await bench.store.createUpload({ ...upload, ...rest, checksumType: null });
      const before = async (after: { initiatedAtMs: number; uploadId: string }, limit = 10) =>
        (await bench.store.uploadsBefore({ beforeMs: NOW_MS + 5, after, limit })).map(({ uploadId }) => uploadId);
      expect(await before({ initiatedAtMs: -1, uploadId: '' })).toEqual(['c', 'a', 'b']);
      expect(await before({ initiatedAtMs: NOW_MS + 1, uploadId: 'a' })).toEqual(['b']);
      expect(await before({ initiatedAtMs: -1, uploadId: '' }, 2)).toEqual(['c', 'a']);
      await bench.store.abortUpload({ bucketId: other, key: 'k', uploadId: 'c', trashDueAtMs: DUE_MS });
      expect(await before({ initiatedAtMs: -1, uploadId: '' })).toEqual(['a', 'b']);
    });
  });
}
