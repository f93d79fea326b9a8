import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CopyObject, SourceVersion } from '../../src/domain/ports/copy-commands.ts';
import type { StoredVersion } from '../../src/domain/ports/records.ts';
import { DUE_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for copies, which share bytes between rows, run against every metadata store. */
export function describeCopies(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const identity = (key: string, stored: StoredVersion): SourceVersion => {
    const { versionId, etag, sizeBytes, modifiedAtMs } = stored;
    return { bucketId: bench.bucket.id, key, versionId, etag, sizeBytes, modifiedAtMs };
  };
  const copy = (source: SourceVersion, key: string, extra: Partial<CopyObject> = {}) =>
    bench.store.copyObject({
      source,
      bucketId: bench.bucket.id,
      key,
      nowMs: NOW_MS + 1,
      versionToken: 'copied',
      attributes: { contentType: 'image/png' },
      checksum: null,
      conditions: {},
      trashDueAtMs: DUE_MS,
      ...extra,
    });
  const putBlob = async (key: string) => {
    const content = { kind: 'blob', blobId: randomBytes(16).toString('hex') } as const;
    return { ...content, stored: await bench.put(key, content) };
  };
  const createUpload = async (uploadId: string) => {
    const { id: bucketId } = bench.bucket;
    const attributes = { contentType: 'x' };
    const checksum = { checksumAlgorithm: null, checksumType: null };
    await bench.store.createUpload({
      uploadId,
      bucketId,
      key: 'big',
      nowMs: NOW_MS,
      initiator: 'x',
      attributes,
      ...checksum,
    });
    return { uploadId, bucketId, key: 'big' };
  };
  const copyPart = (
    upload: { uploadId: string; bucketId: number; key: string },
    blobId: string,
    source: SourceVersion,
  ) =>
    bench.store.putPart({
      ...upload,
      partNumber: 1,
      blobId,
      copied: { blobOffset: 100, source },
      sizeBytes: 50,
      etag: 'ab'.repeat(16),
      checksum: null,
      nowMs: NOW_MS,
      trashDueAtMs: DUE_MS,
    });

  describe('copies', () => {
    it('share a blob, which is trashed with its last reference', async () => {
      const { blobId, stored } = await putBlob('a');
      await copy(identity('a', stored), 'b');
      expect(await bench.usage()).toEqual({ objectCount: 2, sizeBytes: 2_000 });
      await bench.remove('a');
      expect(await bench.trash()).toEqual([]);
      const found = await bench.store.findObject({ bucketId: bench.bucket.id, key: 'b' });
      expect(found?.version).toMatchObject({
        etag: stored.etag,
        attributes: { contentType: 'image/png' },
        location: { kind: 'blob', blobId },
        modifiedAtMs: NOW_MS + 1,
      });
      await bench.remove('b');
      expect(await bench.trash()).toEqual([blobId]);
    });

    it('keep the bytes of an object copied onto itself, inline or in a blob', async () => {
      const { stored } = await putBlob('a');
      await copy(identity('a', stored), 'a');
      expect(await bench.trash()).toEqual([]);
      const data = randomBytes(30);
      const inline = await bench.put('i', { kind: 'inline', data });
      await copy(identity('i', inline), 'i');
      await copy({ ...identity('i', inline), modifiedAtMs: NOW_MS + 1 }, 'j', { nowMs: NOW_MS + 2 });
      await bench.remove('i');
      const found = await bench.store.findObject({ bucketId: bench.bucket.id, key: 'j' });
      expect(Buffer.from(found?.inline ?? []).equals(data)).toBe(true);
      expect(await bench.usage()).toEqual({ objectCount: 2, sizeBytes: 1_030 });
    });

    it('fail when the source was changed or deleted after the read, or when a condition fails', async () => {
      const { stored } = await putBlob('a');
      const source = identity('a', stored);
      await expect(copy({ ...source, modifiedAtMs: 1 }, 'b')).rejects.toMatchObject({ code: 'OperationAborted' });
      await expect(copy(source, 'a', { conditions: { ifNoneMatch: ['*'] } })).rejects.toMatchObject({ status: 412 });
      await bench.remove('a');
      await expect(copy(source, 'b')).rejects.toMatchObject({ code: 'OperationAborted', status: 409 });
      expect(await bench.usage()).toEqual({ objectCount: 0, sizeBytes: 0 });
    });

    it('keep a blob alive through range-copied parts, in an open upload and in a completed object', async () => {
      const { blobId, stored } = await putBlob('a');
      const upload = await createUpload('0000000001copy');
      await copyPart(upload, blobId, identity('a', stored));
      await bench.remove('a');
      expect(await bench.trash()).toEqual([]);
      await bench.store.completeUpload({
        ...upload,
        parts: [{ partNumber: 1, etag: 'ab'.repeat(16) }],
        nowMs: NOW_MS,
        versionToken: 'done',
        expected: {},
        minPartBytes: 0,
        maxObjectBytes: 1e9,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });
      const range = { manifestId: upload.uploadId, start: 0, endExclusive: 50, limit: 9 };
      expect(await bench.store.manifestParts(range)).toMatchObject([{ blobId, blobOffset: 100, sizeBytes: 50 }]);
      expect(await bench.store.isContentNeeded({ kind: 'blob', contentId: blobId })).toBe(true);
      await bench.remove('big');
      expect(await bench.trash()).toEqual([upload.uploadId]);
      expect(await bench.store.isContentNeeded({ kind: 'blob', contentId: blobId })).toBe(false);
    });

    it('keep shared blobs when a manifest is removed, and trash them with the last other reference', async () => {
      const { blobId, stored } = await putBlob('a');
      const upload = await createUpload('0000000002copy');
      await copyPart(upload, blobId, identity('a', stored));
      await bench.store.abortUpload({ ...upload, trashDueAtMs: DUE_MS });
      const query = { manifestId: upload.uploadId, limit: 9 };
      expect(await bench.store.manifestBlobs(query)).toEqual([{ partNumber: 1, blobId, shared: true }]);
      await bench.remove('a'); // after manifestBlobs, before forgetManifestParts
      expect(await bench.trash()).toEqual([upload.uploadId]);
      await bench.store.forgetManifestParts({ manifestId: upload.uploadId, throughPartNumber: 1, removedBlobs: [] });
      expect((await bench.trash()).toSorted()).toEqual([upload.uploadId, blobId].toSorted());
    });
  });
}
