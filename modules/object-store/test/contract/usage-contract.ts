import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DUE_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Two hours of the same day. */
const FIRST = { hourMs: NOW_MS, dayMs: NOW_MS };
const SECOND = { hourMs: NOW_MS + HOUR_MS, dayMs: NOW_MS };

/** Contract for usage history, run against every metadata store. */
export function describeUsageHistory(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const { workspaceUuid } = bench;
  const inline = (bytes: number) => ({ kind: 'inline', data: Buffer.alloc(bytes) }) as const;
  const history = async (bucketId: number | null, resolution: 'hour' | 'day' = 'hour', owner = workspaceUuid) =>
    (
      await bench.store.usageHistory({
        workspaceUuid: owner,
        bucketId,
        resolution,
        fromMs: NOW_MS - DAY_MS,
        toMs: NOW_MS + DAY_MS,
        limit: 10,
      })
    ).map((point) => [
      (point.periodStartMs - NOW_MS) / HOUR_MS,
      point.objectCount,
      point.sizeBytes,
      point.requestCount,
      point.bytesIn,
      point.bytesOut,
    ]);
  const note = async (periods: typeof FIRST): Promise<void> => {
    await bench.store.noteBucketUsage({ ...periods, afterBucketId: -1, limit: 100 });
    await bench.store.noteWorkspaceUsage({ ...periods, afterWorkspace: '', limit: 100 });
  };
  const traffic = (bucketId: number, requestCount: number, owner = workspaceUuid) => ({
    bucketId,
    workspaceUuid: owner,
    requestCount,
    bytesIn: requestCount * 10,
    bytesOut: requestCount * 100,
  });

  describe('usage history', () => {
    it('keeps the last sample of each hour and day, per bucket and per workspace', async () => {
      const { id: other } = await bench.createBucket('second', workspaceUuid);
      await note(FIRST);
      await bench.put('a', inline(100));
      await bench.put('b', inline(50));
      await note(FIRST);
      await bench.remove('b');
      await note(SECOND);
      await note(SECOND);
      const expected = [
        [0, 2, 150, 0, 0, 0],
        [1, 1, 100, 0, 0, 0],
      ];
      expect(await history(bench.bucket.id)).toEqual(expected);
      expect(await history(null)).toEqual(expected);
      expect(await history(bench.bucket.id, 'day')).toEqual([[0, 1, 100, 0, 0, 0]]);
      expect(await history(other)).toEqual([
        [0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
      ]);
    });

    it('adds traffic, even before the first sample of a period, and keeps it across later samples', async () => {
      const { id: other } = await bench.createBucket('second', workspaceUuid);
      await bench.put('a', inline(100));
      await bench.store.addTraffic({ ...FIRST, traffic: [traffic(other, 1), traffic(bench.bucket.id, 2)] });
      await note(FIRST);
      await bench.store.addTraffic({ ...FIRST, traffic: [traffic(bench.bucket.id, 3)] });
      await note(FIRST);
      expect(await history(bench.bucket.id)).toEqual([[0, 1, 100, 5, 50, 500]]);
      expect(await history(other)).toEqual([[0, 0, 0, 1, 10, 100]]);
      expect(await history(null)).toEqual([[0, 1, 100, 6, 60, 600]]);
      await bench.store.addTraffic({ ...SECOND, traffic: [traffic(bench.bucket.id, 1)] });
      expect(await history(null, 'day')).toEqual([[0, 1, 100, 7, 70, 700]]);
    });

    it('returns the usage of one workspace only', async () => {
      const stranger = randomUUID();
      const { id: theirs } = await bench.createBucket('theirs', stranger);
      await bench.put('a', inline(100));
      await bench.store.addTraffic({ ...FIRST, traffic: [traffic(theirs, 4, stranger)] });
      await note(FIRST);
      expect(await history(null, 'hour', stranger)).toEqual([[0, 0, 0, 4, 40, 400]]);
      expect(await history(null)).toEqual([[0, 1, 100, 0, 0, 0]]);
      expect(await history(theirs)).toEqual([]);
      expect(await history(null, 'hour', randomUUID())).toEqual([]);
    });

    it('deletes the rows of a bucket with the bucket, but none of the workspace', async () => {
      const { id: bucketId } = bench.bucket;
      await bench.store.addTraffic({ ...FIRST, traffic: [traffic(bucketId, 1)] });
      await bench.store.deleteBucket({ bucketId, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      expect(await history(bucketId)).toEqual([]);
      await bench.store.addTraffic({ ...FIRST, traffic: [traffic(bucketId, 1)] });
      expect(await history(bucketId)).toEqual([]);
      expect(await history(null)).toEqual([[0, 0, 0, 2, 20, 200]]);
    });

    it('leaves out soft-deleted buckets', async () => {
      await bench.put('a', inline(100));
      await bench.store.softDeleteBucket({ bucketId: bench.bucket.id, nowMs: NOW_MS, purgeAtMs: DUE_MS });
      await note(FIRST);
      expect(await history(bench.bucket.id)).toEqual([]);
      expect(await history(null)).toEqual([[0, 0, 0, 0, 0, 0]]);
    });

    it('records usage page by page', async () => {
      const owners = [workspaceUuid, randomUUID(), randomUUID()];
      const ids = [bench.bucket.id];
      for (const [index, owner] of owners.slice(1).entries()) {
        ids.push((await bench.createBucket(`bucket-${index}`, owner)).id);
      }
      let pages = 0;
      for (let after: number | null = -1; after !== null; pages += 1) {
        after = await bench.store.noteBucketUsage({ ...FIRST, afterBucketId: after, limit: 2 });
      }
      expect(pages).toBeGreaterThanOrEqual(3);
      for (let after: string | null = ''; after !== null;) {
        after = await bench.store.noteWorkspaceUsage({ ...FIRST, afterWorkspace: after, limit: 2 });
      }
      for (const [index, owner] of owners.entries()) {
        expect(await history(ids[index] ?? null, 'hour', owner)).toHaveLength(1);
        expect(await history(null, 'hour', owner)).toHaveLength(1);
      }
    });

    it('deletes old rows of one resolution, at most the limit at a time', async () => {
      await note(FIRST);
      await note(SECOND);
      const old = { resolution: 'hour', beforeMs: NOW_MS + 1 } as const;
      expect(await bench.store.forgetUsage({ ...old, limit: 1 })).toBe(1);
      while ((await bench.store.forgetUsage({ ...old, limit: 1 })) === 1);
      expect(await history(bench.bucket.id)).toEqual([[1, 0, 0, 0, 0, 0]]);
      expect(await history(null)).toEqual([[1, 0, 0, 0, 0, 0]]);
      expect(await history(null, 'day')).toHaveLength(1);
    });
  });
}
