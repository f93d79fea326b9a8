import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DUE_MS, metadataBench, NOW_MS, tenantLimits, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for quotas, run against every metadata store: checked on exact counters inside the transaction. */
export function describeQuotas(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const inline = (bytes: number) => ({ kind: 'inline', data: randomBytes(bytes) }) as const;
  const limits = (maxBytes: number | null, maxObjects: number | null = null) => ({
    quota: { bucket: { maxBytes, maxObjects } },
  });

  const drift = async () =>
    (await bench.store.usageDrift({ after: -1, limit: 100 })).filter(
      ({ counted, actual }) => !isDeepStrictEqual(counted, actual),
    );
  const used = () => bench.store.quotaUsage({ workspaceUuid: bench.bucket.workspaceUuid });

  describe('quotas', () => {
    it('admits exactly as many concurrent writes as fit', async () => {
      const attempts = await Promise.allSettled(
        Array.from({ length: 30 }, (_, index) => bench.put(`key-${index}`, inline(100), limits(1_050))),
      );
      const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
      expect(refused).toHaveLength(20);
      for (const reason of refused) {
        expect(reason).toMatchObject({ code: 'QuotaExceeded', status: 403, details: { quota: 'bytes', limit: 1_050 } });
      }
      expect(await bench.usage()).toEqual({ objectCount: 10, sizeBytes: 1_000 });
    });

    it('counts objects, but not overwrites', async () => {
      await bench.put('a', inline(1), limits(null, 2));
      await bench.put('b', inline(1), limits(null, 2));
      await bench.put('a', inline(500), limits(null, 2));
      const refused = bench.put('c', inline(1), limits(null, 2));
      await expect(refused).rejects.toMatchObject({ code: 'QuotaExceeded', details: { quota: 'objects', limit: 2 } });
      await bench.remove('b');
      await bench.put('c', inline(1), limits(null, 2));
      expect(await bench.usage()).toEqual({ objectCount: 2, sizeBytes: 501 });
    });

    it('lets a bucket over a lowered quota shrink, and stores nothing of a rejected write', async () => {
      await bench.put('a', inline(900));
      await bench.put('b', inline(900));
      await bench.put('a', inline(800), limits(1_000));
      await expect(bench.put('a', inline(801), limits(1_000))).rejects.toMatchObject({ code: 'QuotaExceeded' });
      expect(await bench.usage()).toEqual({ objectCount: 2, sizeBytes: 1_700 });
      const found = await bench.store.findObject({ bucketId: bench.bucket.id, key: 'a' });
      expect(found?.inline).toHaveLength(800);
    });

    it('counts every stored version', async () => {
      await bench.store.setVersioning({ bucketId: bench.bucket.id, versioning: 'enabled' });
      await bench.put('a', inline(400), limits(1_000));
      await bench.put('a', inline(400), limits(1_000));
      await expect(bench.put('a', inline(400), limits(1_000))).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.remove('a');
      expect(await bench.usage()).toEqual({ objectCount: 2, sizeBytes: 800 });
    });

    it('rejects a part that exceeds the quota, and a completion that no longer fits', async () => {
      const upload = { uploadId: randomBytes(20).toString('hex'), bucketId: bench.bucket.id, key: 'large' };
      const attributes = { contentType: 'x/y' };
      const kind = { checksumAlgorithm: null, checksumType: null };
      await bench.store.createUpload({ ...upload, ...kind, attributes, nowMs: NOW_MS, initiator: 'tester' });
      const part = (sizeBytes: number) =>
        bench.store.putPart({
          ...upload,
          ...limits(1_000),
          partNumber: 1,
          blobId: randomBytes(16).toString('hex'),
          etag: 'a'.repeat(32),
          checksum: null,
          sizeBytes,
          nowMs: NOW_MS,
          trashDueAtMs: DUE_MS,
        });
      await expect(part(1_001)).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await part(1_000);
      const complete = () =>
        bench.store.completeUpload({
          ...upload,
          ...limits(1_000),
          parts: [{ partNumber: 1, etag: 'a'.repeat(32) }],
          expected: {},
          nowMs: NOW_MS,
          versionToken: 'token',
          minPartBytes: 0,
          maxObjectBytes: 10_000,
          conditions: {},
          trashDueAtMs: DUE_MS,
        });
      await bench.put('small', inline(1));
      await expect(complete()).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.remove('small');
      await complete();
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 1_000 });
    });

    it('enforces a workspace quota across its buckets under concurrent writes', async () => {
      const { workspaceUuid } = bench.bucket;
      const second = await bench.createBucket('second', workspaceUuid);
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_bytes: 1_050, stored_objects: null }) };
      const attempts = await Promise.allSettled(
        Array.from({ length: 30 }, (_, index) => {
          const bucketId = index % 2 === 0 ? bench.bucket.id : second.id;
          return bench.put(`key-${index}`, inline(100), { quota, bucketId });
        }),
      );
      const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
      expect(refused).toHaveLength(20);
      for (const reason of refused) {
        const details = { quota: 'stored_bytes', scope: 'workspace', limit: 1_050, current: 1_000, requested: 100 };
        expect(reason).toMatchObject({ code: 'QuotaExceeded', status: 403, details });
      }
      expect(await bench.store.quotaUsage({ workspaceUuid })).toEqual({
        stored_bytes: 1_000,
        stored_objects: 10,
        buckets: 2,
      });
    });

    it('enforces an owner quota across its workspaces under concurrent writes', async () => {
      const { workspaceUuid } = bench.bucket;
      const other = await bench.createBucket('elsewhere', 'another-workspace');
      const owner = { ownerWorkspaces: ['another-workspace', workspaceUuid], owner: { stored_objects: 7 } };
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => {
          const bucket = index % 2 === 0 ? bench.bucket : other;
          const quota = { tenant: tenantLimits(bucket.workspaceUuid, {}, owner) };
          return bench.put(`key-${index}`, inline(10), { quota, bucketId: bucket.id });
        }),
      );
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
      const [reason] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
      expect(reason).toMatchObject({ details: { quota: 'stored_objects', scope: 'owner', limit: 7, current: 7 } });
    });

    it('counts the parts of open uploads until they are completed or aborted, never twice', async () => {
      const { workspaceUuid, id: bucketId } = bench.bucket;
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_bytes: 1_000 }) };
      const begin = async (key: string) => {
        const upload = { uploadId: randomBytes(20).toString('hex'), bucketId, key };
        const kind = { checksumAlgorithm: null, checksumType: null, attributes: { contentType: 'x/y' } };
        await bench.store.createUpload({ ...upload, ...kind, nowMs: NOW_MS, initiator: 'tester' });
        return upload;
      };
      const part = (upload: Awaited<ReturnType<typeof begin>>, sizeBytes: number) =>
        bench.store.putPart({
          ...upload,
          quota,
          partNumber: 1,
          blobId: randomBytes(16).toString('hex'),
          etag: 'a'.repeat(32),
          checksum: null,
          sizeBytes,
          nowMs: NOW_MS,
          trashDueAtMs: DUE_MS,
        });
      const [first, second] = [await begin('first'), await begin('second')];
      await part(first, 600);
      await expect(part(second, 500)).rejects.toMatchObject({ code: 'QuotaExceeded', details: { current: 600 } });
      await expect(bench.put('small', inline(401), { quota })).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.store.completeUpload({
        ...first,
        quota,
        parts: [{ partNumber: 1, etag: 'a'.repeat(32) }],
        expected: {},
        nowMs: NOW_MS,
        versionToken: 'token',
        minPartBytes: 0,
        maxObjectBytes: 10_000,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });
      await part(second, 400);
      await expect(bench.put('small', inline(1), { quota })).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.store.abortUpload({ ...second, trashDueAtMs: DUE_MS });
      await expect(bench.put('small', inline(1), { quota })).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.store.forgetTrash({ removed: [{ kind: 'manifest', contentId: second.uploadId }], kept: [] });
      await bench.put('small', inline(1), { quota });
      expect(await bench.store.quotaUsage({ workspaceUuid })).toMatchObject({ stored_bytes: 601, stored_objects: 2 });
      expect(await drift()).toEqual([]);
    });

    it('counts deleted bytes until they are removed, and lets only their workspace speed that up', async () => {
      const { workspaceUuid, id: bucketId } = bench.bucket;
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_bytes: 2_000 }) };
      const content = (id: string) => ({ kind: 'blob', blobId: id.repeat(16) }) as const; // 1,000 bytes
      await bench.put('a', content('a'), { quota });
      await bench.remove('a');
      expect(await used()).toMatchObject({ stored_bytes: 1_000, stored_objects: 0 });
      await bench.put('b', content('b'), { quota });
      await expect(bench.put('b', content('c'), { quota })).rejects.toMatchObject({
        code: 'QuotaExceeded',
        details: { quota: 'stored_bytes', current: 2_000, requested: 1_000, remedy: expect.stringContaining('trash') },
      });
      const found = await bench.store.findObject({ bucketId, key: 'b' });
      expect(found?.version.location).toEqual(content('b'));
      expect(await bench.store.dueTrash({ nowMs: NOW_MS, limit: 10 })).toEqual([]);
      const hasten = (of: string) => bench.store.hastenTrash({ workspaceUuid: of, nowMs: NOW_MS, limit: 10 });
      expect(await hasten('another')).toEqual({ entries: 0, bytes: 0 });
      expect(await hasten(workspaceUuid)).toEqual({ entries: 1, bytes: 1_000 });
      const due = await bench.store.dueTrash({ nowMs: NOW_MS, limit: 10 });
      expect(due).toEqual([{ kind: 'blob', contentId: 'a'.repeat(16) }]);
      await bench.store.forgetTrash({ removed: due, kept: [] });
      expect(await used()).toMatchObject({ stored_bytes: 1_000 });
      await bench.put('b', content('c'), { quota });
      expect(await used()).toMatchObject({ stored_bytes: 2_000, stored_objects: 1 });
      expect(await drift()).toEqual([]);
    });

    it('needs no extra space to copy an object onto itself', async () => {
      const { workspaceUuid, id: bucketId } = bench.bucket;
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_bytes: 1_000 }) };
      await bench.put('a', { kind: 'blob', blobId: 'a'.repeat(16) }, { quota });
      const found = await bench.store.findObject({ bucketId, key: 'a' });
      if (found === null) throw new Error('it was just stored');
      await bench.store.copyObject({
        quota,
        source: found.version,
        bucketId,
        key: 'a',
        nowMs: NOW_MS,
        versionToken: 'token',
        attributes: { contentType: 'x/y' },
        checksum: null,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });
      expect(await used()).toMatchObject({ stored_bytes: 1_000, stored_objects: 1 });
      expect(await bench.trash()).toEqual([]);
    });

    it('counts delete markers and may reject those that cover nothing, but never the delete of an object', async () => {
      const { workspaceUuid, id: bucketId } = bench.bucket;
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_objects: 2 }) };
      await bench.store.setVersioning({ bucketId, versioning: 'enabled' });
      await bench.put('a', inline(1), { quota });
      await bench.remove('absent', { quota });
      expect(await used()).toMatchObject({ stored_objects: 2 });
      const refused = { code: 'QuotaExceeded', details: { quota: 'stored_objects', current: 2 } };
      await expect(bench.remove('another', { quota })).rejects.toMatchObject(refused);
      const { versionId } = await bench.remove('a', { quota });
      expect(await used()).toMatchObject({ stored_objects: 3 });
      await expect(bench.remove('a', { quota })).rejects.toMatchObject({ code: 'QuotaExceeded' });
      await bench.remove('a', { quota, versionId: versionId ?? '' });
      expect(await used()).toMatchObject({ stored_objects: 2 });
      expect(await drift()).toEqual([]);
    });

    it('counts open uploads as objects, and replaced or unused parts as deleted bytes', async () => {
      const { workspaceUuid, id: bucketId } = bench.bucket;
      const quota = { tenant: tenantLimits(workspaceUuid, { stored_objects: 1, stored_bytes: 1_000 }) };
      const begin = (uploadId: string) =>
        bench.store.createUpload({
          uploadId,
          bucketId,
          key: 'large',
          nowMs: NOW_MS,
          initiator: 'tester',
          quota,
          checksumAlgorithm: null,
          checksumType: null,
          attributes: { contentType: 'x/y' },
        });
      const part = (partNumber: number, sizeBytes: number) =>
        bench.store.putPart({
          uploadId: 'first',
          bucketId,
          key: 'large',
          quota,
          partNumber,
          sizeBytes,
          blobId: randomBytes(16).toString('hex'),
          etag: 'a'.repeat(32),
          checksum: null,
          nowMs: NOW_MS,
          trashDueAtMs: DUE_MS,
        });
      await begin('first');
      await expect(begin('second')).rejects.toMatchObject({ details: { quota: 'stored_objects', current: 1 } });
      await part(1, 300);
      await part(1, 400);
      await part(2, 200);
      expect(await used()).toMatchObject({ stored_bytes: 900 });
      await expect(part(1, 101)).rejects.toMatchObject({ details: { quota: 'stored_bytes', current: 900 } });
      await bench.store.completeUpload({
        uploadId: 'first',
        bucketId,
        key: 'large',
        quota,
        parts: [{ partNumber: 1, etag: 'a'.repeat(32) }],
        expected: {},
        nowMs: NOW_MS,
        versionToken: 'token',
        minPartBytes: 0,
        maxObjectBytes: 10_000,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });
      expect(await used()).toMatchObject({ stored_bytes: 900, stored_objects: 1 });
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 400 });
      expect(await bench.trash()).toHaveLength(2);
      expect(await drift()).toEqual([]);
    });

    it('enforces the bucket limit of an owner across workspaces', async () => {
      const owner = { ownerWorkspaces: ['v', 'w'], owner: { buckets: 2 } };
      const make = (name: string, workspaceUuid: string) =>
        bench.store.createBucket({
          id: randomBytes(6).readUIntBE(0, 6),
          name,
          workspaceUuid,
          nowMs: NOW_MS,
          encryptionMode: 'none',
          locationHint: null,
          tenant: tenantLimits(workspaceUuid, { buckets: 2 }, owner),
        });
      const made = await Promise.allSettled(['v', 'w', 'v', 'w'].map((each, index) => make(`of-owner-${index}`, each)));
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      expect(made.find((each) => each.status === 'rejected')?.reason).toMatchObject({
        code: 'TooManyBuckets',
        details: { quota: 'buckets', scope: 'owner', limit: 2 },
      });
    });

    it('counts a copy like any other object', async () => {
      await bench.put('a', inline(600));
      const { version } = (await bench.store.findObject({ bucketId: bench.bucket.id, key: 'a' })) ?? {};
      if (version === undefined) throw new Error('it was just stored');
      const { key, versionId, etag, sizeBytes, modifiedAtMs } = version;
      const bucketId = bench.bucket.id;
      const copied = bench.store.copyObject({
        ...limits(1_000),
        source: { bucketId, key, versionId, etag, sizeBytes, modifiedAtMs },
        bucketId,
        key: 'b',
        nowMs: NOW_MS,
        versionToken: 'token',
        attributes: { contentType: 'x/y' },
        checksum: null,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });
      await expect(copied).rejects.toMatchObject({ code: 'QuotaExceeded' });
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 600 });
    });
  });
}
