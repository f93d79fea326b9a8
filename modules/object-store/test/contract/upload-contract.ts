import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AccessKeyRecord } from '../../src/domain/ports/records.ts';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for multipart uploads and access keys, run against every metadata store. */
export function describeUploads(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const { workspaceUuid } = bench;

  describe('multipart uploads', () => {
    const uploadId = () => randomBytes(20).toString('hex');
    const begin = async (key: string) => {
      const id = uploadId();
      const upload = { uploadId: id, bucketId: bench.bucket.id, key };
      await bench.store.createUpload({
        ...upload,
        nowMs: NOW_MS,
        initiator: 'tester',
        attributes: { contentType: 'x/y' },
        checksumAlgorithm: null,
        checksumType: null,
      });
      return upload;
    };
    const addPart = async (
      upload: { uploadId: string; bucketId: number; key: string },
      partNumber: number,
      size = 100,
    ) => {
      const blobId = randomBytes(16).toString('hex');
      const etag = createHash('md5').update(`${partNumber}/${size}`).digest('hex');
      await bench.store.putPart({
        ...upload,
        partNumber,
        blobId,
        sizeBytes: size,
        etag,
        checksum: null,
        nowMs: NOW_MS,
        trashDueAtMs: DUE_MS,
      });
      return { partNumber, etag, blobId };
    };
    const complete = (
      upload: { uploadId: string; bucketId: number; key: string },
      parts: { partNumber: number; etag: string }[],
    ) =>
      bench.store.completeUpload({
        ...upload,
        parts,
        nowMs: NOW_MS,
        versionToken: 'token',
        expected: {},
        minPartBytes: 50,
        maxObjectBytes: 10_000,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });

    it('completes an upload into an object whose manifest finds the parts of any range', async () => {
      const upload = await begin('big');
      const last = await addPart(upload, 9, 7);
      const parts = [await addPart(upload, 2), await addPart(upload, 5), last];
      const left = await addPart(upload, 11);
      const stored = await complete(upload, parts);
      expect(stored).toMatchObject({ sizeBytes: 207, etag: expect.stringMatching(/^[0-9a-f]{32}-3$/) });
      expect(await complete(upload, parts)).toEqual(stored);
      expect(await bench.trash()).toEqual([left.blobId]);
      const manifest = (start: number, endExclusive: number) =>
        bench.store.manifestParts({ manifestId: upload.uploadId, start, endExclusive, limit: 10 });
      expect((await manifest(0, 207)).map((each) => each.startOffset)).toEqual([0, 100, 200]);
      expect((await manifest(99, 101)).map((each) => each.partNumber)).toEqual([2, 5]);
      expect((await manifest(200, 207)).map((each) => each.partNumber)).toEqual([9]);
      const found = await bench.store.findObject({ bucketId: bench.bucket.id, key: 'big' });
      expect(found?.version).toMatchObject({ partCount: 3, attributes: { contentType: 'x/y' } });
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 207 });
      await expect(addPart(upload, 1)).rejects.toMatchObject({ code: 'NoSuchUpload' });

      await bench.remove('big');
      expect(await bench.trash()).toEqual([left.blobId, upload.uploadId].toSorted());
      expect(await bench.store.isContentNeeded({ kind: 'manifest', contentId: upload.uploadId })).toBe(false);
      expect(await bench.store.neededBlobs({ after: '', limit: 10 })).toEqual([]);
      expect(await bench.store.manifestBlobs({ manifestId: upload.uploadId, limit: 10 })).toHaveLength(3);
      await bench.store.forgetManifestParts({ manifestId: upload.uploadId, throughPartNumber: 5, removedBlobs: [] });
      await bench.store.forgetTrash({ removed: [{ kind: 'manifest', contentId: upload.uploadId }], kept: [] });
      expect(await bench.store.isBlobKnown({ blobId: last.blobId })).toBe(false);
      await expect(complete(upload, parts)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    });

    it('rejects unknown, changed, misordered or undersized parts and keeps the upload open', async () => {
      const upload = await begin('big');
      const first = await addPart(upload, 1, 10);
      const second = await addPart(upload, 2);
      await expect(complete(upload, [{ ...first, partNumber: 3 }])).rejects.toMatchObject({ code: 'InvalidPart' });
      await expect(complete(upload, [{ ...first, etag: 'x' }])).rejects.toMatchObject({ code: 'InvalidPart' });
      await expect(complete(upload, [second, first])).rejects.toMatchObject({ code: 'InvalidPartOrder' });
      await expect(complete(upload, [first, second])).rejects.toMatchObject({ code: 'EntityTooSmall' });
      await expect(complete({ ...upload, key: 'other' }, [second])).rejects.toMatchObject({ code: 'NoSuchUpload' });
      await complete(upload, [second]);
    });

    it('replaces a part uploaded again, and drops all parts of an aborted upload', async () => {
      const upload = await begin('big');
      const first = await addPart(upload, 1);
      const again = await addPart(upload, 1, 200);
      expect(await bench.trash()).toEqual([first.blobId]);
      expect(
        (await bench.store.listParts({ uploadId: upload.uploadId, afterPartNumber: 0, limit: 10 })).map(
          (each) => each.etag,
        ),
      ).toEqual([again.etag]);
      await bench.store.abortUpload({ ...upload, trashDueAtMs: DUE_MS });
      expect(await bench.trash()).toEqual([first.blobId, upload.uploadId].toSorted());
      await expect(bench.store.abortUpload({ ...upload, trashDueAtMs: DUE_MS })).rejects.toMatchObject({
        code: 'NoSuchUpload',
      });
    });

    it('lists open uploads by key and age, in pages', async () => {
      for (const key of ['a/1', 'a/2', 'b', 'b', 'c/1']) await begin(key);
      const query = { bucketId: bench.bucket.id, prefix: '', delimiter: '', afterKey: '', afterUploadId: '', limit: 2 };
      const seen: string[] = [];
      for (let page = await bench.store.listUploads(query); ;) {
        seen.push(...page.uploads.map(({ key }) => key));
        if (!page.truncated) break;
        page = await bench.store.listUploads({
          ...query,
          afterKey: page.nextKey ?? '',
          afterUploadId: page.nextUploadId ?? '',
        });
      }
      expect(seen).toEqual(['a/1', 'a/2', 'b', 'b', 'c/1']);
      const rolled = await bench.store.listUploads({ ...query, delimiter: '/', limit: 10 });
      expect(rolled.commonPrefixes).toEqual(['a/', 'c/']);
      expect(rolled.uploads.map(({ key }) => key)).toEqual(['b', 'b']);
      const prefixed = await bench.store.listUploads({ ...query, prefix: 'b', limit: 10 });
      expect(prefixed.uploads).toHaveLength(2);
    });

    it('forgets only old completions', async () => {
      const upload = await begin('big');
      const open = await begin('open');
      const part = await addPart(upload, 1);
      await complete(upload, [part]);
      expect(await bench.store.forgetCompletedUploads({ beforeMs: LATER_MS, limit: 10 })).toBe(1);
      expect(await bench.store.findUpload(open)).not.toBeNull();
      expect(await bench.store.isContentNeeded({ kind: 'manifest', contentId: upload.uploadId })).toBe(true);
      expect((await bench.store.neededBlobs({ after: '', limit: 10 })).map(({ blobId }) => blobId)).toEqual([
        part.blobId,
      ]);
    });
  });

  describe('access keys', () => {
    const key = (accessKeyId: string, extra: Partial<AccessKeyRecord> = {}): AccessKeyRecord => ({
      accessKeyId,
      workspaceUuid,
      label: 'label',
      permissions: ['read'],
      buckets: null,
      sealedSecret: 'sealed',
      createdAtMs: NOW_MS,
      createdBy: { principalId: 'somebody', tokenId: 'token', kind: 'user', name: 'somebody@example.org' },
      expiresAtMs: null,
      lastUsedAtMs: null,
      ...extra,
    });

    it('requires a provisioned workspace and existing buckets, and enforces the limit', async () => {
      const create = (record: AccessKeyRecord) => bench.store.createAccessKey({ key: record, maxKeys: 2 });
      await expect(create(key('k1', { workspaceUuid: randomUUID() }))).rejects.toMatchObject({
        code: 'TenantNotProvisioned',
      });
      await expect(create(key('k1', { buckets: ['no-such'] }))).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await create(key('k1', { buckets: ['first'] }));
      await create(key('k2'));
      await expect(create(key('k3'))).rejects.toMatchObject({ code: 'TooManyAccessKeys' });
      expect(await bench.store.findAccessKey({ accessKeyId: 'k1' })).toEqual(key('k1', { buckets: ['first'] }));
      expect(
        (await bench.store.listAccessKeys({ workspaceUuid, after: '', limit: 10 })).map((each) => each.accessKeyId),
      ).toEqual(['k1', 'k2']);
    });

    it('deletes a key only for its workspace and, if requested, only for its creator', async () => {
      await bench.store.createAccessKey({ key: key('k1'), maxKeys: 9 });
      const target = { workspaceUuid, accessKeyId: 'k1' };
      expect(await bench.store.deleteAccessKey({ ...target, workspaceUuid: randomUUID() })).toBe(false);
      expect(await bench.store.deleteAccessKey({ ...target, createdBy: 'another' })).toBe(false);
      expect(await bench.store.deleteAccessKey({ ...target, createdBy: 'somebody' })).toBe(true);
      expect(await bench.store.deleteAccessKey(target)).toBe(false);
    });

    it('keeps one presigning key per creator and removes it when unused', async () => {
      const maker = { principalId: 'somebody', tokenId: null, kind: 'user' as const, name: '' };
      const presign = (id: string, createdBy = maker) => bench.store.createPresignKey({ key: key(id, { createdBy }) });
      expect(await presign('p1')).toMatchObject({ accessKeyId: 'p1' });
      expect(await presign('p2')).toMatchObject({ accessKeyId: 'p1' });
      expect(await presign('p3', { ...maker, principalId: 'another' })).toMatchObject({ accessKeyId: 'p3' });
      const withToken = { workspaceUuid, maker: { principalId: 'somebody', tokenId: 'token' } };
      expect(await bench.store.findPresignKey(withToken)).toBeNull();
      await bench.store.touchAccessKeys({ usedAtMs: { p3: LATER_MS } });
      expect(await bench.store.forgetPresignKeys({ unusedSinceMs: LATER_MS, limit: 10 })).toBe(1);
      expect(await bench.store.findPresignKey({ workspaceUuid, maker })).toBeNull();
      expect(await bench.store.findAccessKey({ accessKeyId: 'p3' })).toMatchObject({
        createdBy: { principalId: 'another' },
      });
    });

    it('records the last use of a key', async () => {
      await bench.store.createAccessKey({ key: key('k1'), maxKeys: 9 });
      await bench.store.touchAccessKeys({ usedAtMs: { k1: LATER_MS, unknown: LATER_MS } });
      expect(await bench.store.findAccessKey({ accessKeyId: 'k1' })).toMatchObject({ lastUsedAtMs: LATER_MS });
    });
  });
}
