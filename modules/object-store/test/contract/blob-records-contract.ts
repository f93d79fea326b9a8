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
