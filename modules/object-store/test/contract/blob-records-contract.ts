import { describe, expect, it } from 'vitest';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for blob records, run against every metadata store. */
export function describeBlobRecords(open: OpenMetadata): void {
  describe('blob records', () => {
    const bench = metadataBench(open);
    const blobId = 'b'.repeat(32);
    const content = { kind: 'blob', blobId, crc64nvme: '0123456789abcdef' } as const;

    it('creates a record with the first row and removes it with the bytes', async () => {
      await bench.put('a', content);
      expect(await bench.store.findBlob({ blobId })).toEqual({
        blobId,
        sizeBytes: 1_000,
        crc64nvme: '0123456789abcdef',
        state: 'good',
        verifiedAtMs: NOW_MS,
      });
      await bench.put('b', { kind: 'blob', blobId });
      expect((await bench.store.findBlob({ blobId }))?.crc64nvme).toBe('0123456789abcdef');
      await bench.remove('a');
      expect(await bench.trash()).toEqual([]);
      await bench.remove('b');
      expect(await bench.trash()).toEqual([blobId]);
      await bench.store.forgetTrash({ removed: [{ kind: 'blob', contentId: blobId }], kept: [] });
      expect(await bench.store.findBlob({ blobId })).toBeNull();
    });

    it('verifies the least recently verified blob first, sets a checksum once, and records the result', async () => {
      await bench.put('known', content);
      const old = 'c'.repeat(32);
      await bench.put('old', { kind: 'blob', blobId: old });
      const next = () => bench.store.blobsToVerify({ beforeMs: LATER_MS, limit: 1 });
      expect((await next()).map((blob) => blob.blobId)).toEqual([old]);
      await bench.store.noteVerified({
        blobs: [
          { blobId: old, state: 'good', crc64nvme: 'ffffffffffffffff' },
          { blobId, state: 'damaged', crc64nvme: '0000000000000000' },
        ],
        nowMs: LATER_MS,
      });
      expect(await next()).toEqual([]);
      expect((await bench.store.findBlob({ blobId: old }))?.crc64nvme).toBe('ffffffffffffffff');
      expect(await bench.store.blobsNotGood({ after: '', limit: 10 })).toEqual([
        { blobId, sizeBytes: 1_000, crc64nvme: '0123456789abcdef', state: 'damaged', verifiedAtMs: LATER_MS },
      ]);
      expect(await bench.store.objectsOfBlob({ blobId, limit: 5 })).toEqual([
        { bucket: bench.bucket.name, key: 'known', versionId: 'null' },
      ]);
    });

    it('keeps the bytes that another replica reads, until its hold ends', async () => {
      await bench.put('a', content);
      await bench.remove('a');
      const hold = { contentIds: [blobId, 'e'.repeat(32)], nowMs: NOW_MS };
      await bench.store.holdContent({ ...hold, holder: 'one', untilMs: LATER_MS + 1 });
      await bench.store.holdContent({ ...hold, holder: 'other', untilMs: LATER_MS });
      expect(await bench.trash()).toEqual([]);
      await bench.store.holdContent({ ...hold, holder: 'one', untilMs: LATER_MS });
      expect(await bench.trash()).toEqual([blobId]);
    });

    it('refuses a row for condemned bytes, however late it is', async () => {
      expect(await bench.store.condemnBlob({ blobId })).toBe(true);
      const late = { code: 'ServiceUnavailable', status: 503 };
      await expect(bench.put('a', content)).rejects.toMatchObject(late);
      const upload = { uploadId: 'u1', bucketId: bench.bucket.id, key: 'p' };
      const attributes = { contentType: 'x' };
      const checks = { checksumAlgorithm: null, checksumType: null } as const;
      await bench.store.createUpload({ ...upload, ...checks, nowMs: NOW_MS, initiator: 'x', attributes });
      const part = { ...upload, sizeBytes: 1_000, etag: 'e', checksum: null, nowMs: NOW_MS, trashDueAtMs: DUE_MS };
      await expect(bench.store.putPart({ ...part, partNumber: 1, blobId })).rejects.toMatchObject(late);
      expect(await bench.usage()).toEqual({ objectCount: 0, sizeBytes: 0 });
      // A crash between the record and the removal only repeats both.
      expect(await bench.store.condemnBlob({ blobId })).toBe(true);
    });

    it('condemns no bytes that a row refers to, also from the trash', async () => {
      await bench.put('a', content);
      expect(await bench.store.condemnBlob({ blobId })).toBe(false);
      await bench.remove('a');
      expect(await bench.store.condemnBlob({ blobId })).toBe(false);
      expect(await bench.store.findBlob({ blobId })).toMatchObject({ state: 'good', sizeBytes: 1_000 });
    });

    it('condemns bytes or accepts their row, if both are asked for at once', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(32, '0'));
      const results = await Promise.all(
        names.map(async (name) => {
          const put = bench.put(name, { kind: 'blob', blobId: name }).then(
            () => true,
            () => false,
          );
          const [isStored, isCondemned] = await Promise.all([put, bench.store.condemnBlob({ blobId: name })]);
          return isStored !== isCondemned;
        }),
      );
      expect(results).toEqual(names.map(() => true));
    });

    it('neither verifies nor reports condemned bytes', async () => {
      await bench.store.condemnBlob({ blobId });
      expect(await bench.store.blobsToVerify({ beforeMs: LATER_MS, limit: 10 })).toEqual([]);
      expect(await bench.store.blobsNotGood({ after: '', limit: 10 })).toEqual([]);
      expect(await bench.store.findBlob({ blobId })).toBeNull();
    });

    it('claims a property once, also for several at once', async () => {
      const values = ['one', 'two', 'three'];
      const claimed = await Promise.all(
        values.map((value) => bench.store.claimStoreProperty({ name: 'claimed', value })),
      );
      expect(new Set(claimed).size).toBe(1);
      expect(await bench.store.storeProperty({ name: 'claimed' })).toBe(claimed[0]);
      expect(await bench.store.claimStoreProperty({ name: 'claimed', value: 'late' })).toBe(claimed[0]);
    });

    it('keeps the bytes while a backup holds the trash', async () => {
      await bench.put('a', content);
      await bench.remove('a');
      await bench.store.holdTrash({ holder: 'backup', untilMs: LATER_MS + 1 });
      expect(await bench.store.isTrashHeld({ nowMs: LATER_MS })).toBe(true);
      expect(await bench.trash()).toEqual([]);
      await bench.store.releaseTrash({ holder: 'backup' });
      expect(await bench.trash()).toEqual([blobId]);
    });

    it('marks a part whose blob is still needed as shared, so aborting its upload keeps the bytes', async () => {
      const upload = { uploadId: 'u1', bucketId: bench.bucket.id, key: 'p' };
      await bench.store.createUpload({
        ...upload,
        nowMs: NOW_MS,
        initiator: 'x',
        attributes: { contentType: 'x' },
        checksumAlgorithm: null,
        checksumType: null,
      });
      const part = { ...upload, sizeBytes: 1_000, etag: 'e', checksum: null, nowMs: NOW_MS, trashDueAtMs: DUE_MS };
      await bench.put('copy', content);
      await bench.store.putPart({ ...part, partNumber: 1, blobId });
      await bench.store.putPart({ ...part, partNumber: 2, blobId: 'd'.repeat(32) });
      await bench.store.abortUpload({ ...upload, trashDueAtMs: DUE_MS });
      const parts = await bench.store.manifestBlobs({ manifestId: 'u1', limit: 10 });
      expect(parts.map(({ partNumber, shared }) => [partNumber, shared])).toEqual([
        [1, true],
        [2, false],
      ]);
    });
  });
}
