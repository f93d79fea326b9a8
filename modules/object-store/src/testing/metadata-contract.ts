import { createHash, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commonPrefixOf, compareKeys } from '../domain/key-order.ts';
import type { MetadataStore, NewContent, PutObject } from '../ports/metadata-store.ts';
import type { BucketRecord } from '../ports/records.ts';

export interface OpenedMetadata {
  store: MetadataStore;
  close(): Promise<void>;
}

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const DUE_MS = NOW_MS + 1_000;
const LATER_MS = NOW_MS + 10_000;

/** What every metadata store does, whatever database is behind it. */
export function describeMetadataStore(open: () => Promise<OpenedMetadata>): void {
  let opened: OpenedMetadata;
  let store: MetadataStore;
  let bucket: BucketRecord;
  const workspaceUuid = randomUUID();

  beforeEach(async () => {
    opened = await open();
    store = opened.store;
    bucket = await createBucket('first', workspaceUuid);
  });
  afterEach(() => opened.close());

  function createBucket(name: string, owner: string): Promise<BucketRecord> {
    return store.createBucket({
      id: randomBytes(6).readUIntBE(0, 6),
      name,
      workspaceUuid: owner,
      nowMs: NOW_MS,
      encryptionMode: 'none',
      locationHint: null,
      maxBuckets: 3,
    });
  }

  function put(key: string, content: NewContent = { kind: 'empty' }, extra: Partial<PutObject> = {}) {
    return store.putObject({
      bucketId: bucket.id,
      key,
      nowMs: NOW_MS,
      versionToken: randomBytes(8).toString('hex'),
      content,
      sizeBytes: content.kind === 'inline' ? content.data.length : content.kind === 'blob' ? 1_000 : 0,
      etag: createHash('md5').update(key).digest('hex'),
      attributes: { contentType: 'text/plain' },
      checksum: null,
      conditions: {},
      trashDueAtMs: DUE_MS,
      ...extra,
    });
  }

  const blob = (): { kind: 'blob'; blobId: string } => ({ kind: 'blob', blobId: randomBytes(16).toString('hex') });
  const remove = (key: string, extra: object = {}) =>
    store.deleteObject({
      bucketId: bucket.id,
      key,
      nowMs: NOW_MS,
      versionToken: 'token',
      trashDueAtMs: DUE_MS,
      conditions: {},
      ...extra,
    });
  const trash = async () => (await store.dueTrash({ nowMs: LATER_MS, limit: 100 })).map((entry) => entry.contentId);
  const usage = async () => {
    const [found] = await store.listBuckets({ workspaceUuid, prefix: bucket.name, after: '', limit: 1 });
    return { objectCount: found?.objectCount, sizeBytes: found?.sizeBytes };
  };
  const drift = () => store.usageDrift({ after: -1, limit: 100 });

  describe('buckets', () => {
    it('provisions with the first bucket and keeps names unique over all workspaces', async () => {
      const other = randomUUID();
      expect(await store.isProvisioned({ workspaceUuid })).toBe(true);
      expect(await store.isProvisioned({ workspaceUuid: other })).toBe(false);
      await expect(createBucket('first', workspaceUuid)).rejects.toMatchObject({ code: 'BucketAlreadyOwnedByYou' });
      await expect(createBucket('first', other)).rejects.toMatchObject({ code: 'BucketAlreadyExists', details: {} });
      expect(await store.isProvisioned({ workspaceUuid: other })).toBe(false);
    });

    it('lists by name, with prefix and pages, and stops at the limit of a workspace', async () => {
      await createBucket('second', workspaceUuid);
      await createBucket('fir', workspaceUuid);
      await createBucket('of-another', randomUUID());
      await expect(createBucket('fourth', workspaceUuid)).rejects.toMatchObject({ code: 'TooManyBuckets' });
      const names = async (prefix: string, after: string, limit = 10) =>
        (await store.listBuckets({ workspaceUuid, prefix, after, limit })).map(({ name }) => name);
      expect(await names('', '')).toEqual(['fir', 'first', 'second']);
      expect(await names('fir', '')).toEqual(['fir', 'first']);
      expect(await names('', 'fir', 1)).toEqual(['first']);
    });

    it('is deleted only when empty, and then the name is free', async () => {
      await put('a');
      const deletion = () => store.deleteBucket({ bucketId: bucket.id, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      await expect(deletion()).rejects.toMatchObject({ code: 'BucketNotEmpty' });
      await remove('a');
      await deletion();
      await expect(deletion()).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await expect(put('a')).rejects.toMatchObject({ code: 'NoSuchBucket' });
      expect(await store.findBucket({ name: 'first' })).toBeNull();
      await createBucket('first', randomUUID());
    });

    it('is hidden by a soft delete, comes back whole, and is purged when its time is over', async () => {
      const { blobId } = await putBlob('kept');
      const soft = { bucketId: bucket.id, nowMs: NOW_MS, purgeAtMs: DUE_MS };
      expect(await store.softDeleteBucket(soft)).toMatchObject({ state: 'soft-deleted', purgeAtMs: DUE_MS });
      expect(await store.findBucket({ name: 'first' })).toBeNull();
      await expect(createBucket('first', workspaceUuid)).rejects.toMatchObject({
        code: 'BucketAlreadyExists',
        details: { soft_deleted: true },
      });
      const listed = await store.listDeletedBuckets({ workspaceUuid, nowMs: NOW_MS, limit: 10 });
      expect(listed.map(({ name }) => name)).toEqual(['first']);
      const restore = (nowMs: number, owner = workspaceUuid) =>
        store.restoreBucket({ name: 'first', workspaceUuid: owner, nowMs });
      await expect(restore(NOW_MS, randomUUID())).rejects.toMatchObject({ code: 'NoSuchBucket' });
      expect(await restore(NOW_MS)).toMatchObject({ state: 'active', purgeAtMs: null });
      await expect(restore(NOW_MS)).rejects.toMatchObject({ code: 'InvalidBucketState' });
      expect(await store.findObject({ bucketId: bucket.id, key: 'kept' })).not.toBeNull();

      await store.softDeleteBucket(soft);
      await expect(restore(LATER_MS)).rejects.toMatchObject({ code: 'NoSuchBucket' });
      const purge = (nowMs: number) =>
        store.purgeBucket({ bucketId: bucket.id, nowMs, limit: 1, trashDueAtMs: DUE_MS });
      expect(await store.bucketsToPurge({ nowMs: NOW_MS, limit: 10 })).toEqual([]);
      expect(await store.bucketsToPurge({ nowMs: LATER_MS, limit: 10 })).toEqual([bucket.id]);
      expect(await purge(LATER_MS)).toBe(false);
      expect(await purge(LATER_MS)).toBe(true);
      expect(await trash()).toEqual([blobId]);
      await createBucket('first', randomUUID());
    });
  });

  async function putBlob(key: string): Promise<{ blobId: string }> {
    const content = blob();
    await put(key, content);
    return content;
  }

  describe('objects', () => {
    it('keeps inline bytes with the row', async () => {
      const data = randomBytes(5_000);
      await put('inline', { kind: 'inline', data });
      const found = await store.findObject({ bucketId: bucket.id, key: 'inline' });
      expect(Buffer.from(found?.inline ?? [])).toEqual(data);
      expect(found?.version).toMatchObject({ versionId: 'null', isLatest: true, sizeBytes: 5_000 });
      expect(await usage()).toEqual({ objectCount: 1, sizeBytes: 5_000 });
    });

    it('replaces, lets the old bytes go, and counts exactly', async () => {
      const { blobId } = await putBlob('a');
      expect(await usage()).toEqual({ objectCount: 1, sizeBytes: 1_000 });
      expect(await trash()).toEqual([]);
      await put('a', { kind: 'inline', data: randomBytes(10) });
      expect(await trash()).toEqual([blobId]);
      expect(await usage()).toEqual({ objectCount: 1, sizeBytes: 10 });
      await remove('a');
      await remove('a');
      expect(await usage()).toEqual({ objectCount: 0, sizeBytes: 0 });
      expect(await store.findObject({ bucketId: bucket.id, key: 'a' })).toBeNull();
      expect((await drift()).every((row) => row.counted.sizeBytes === row.actual.sizeBytes)).toBe(true);
    });

    it('decides conditions in the transaction: of many writers at once exactly one creates', async () => {
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, () => put('once', { kind: 'empty' }, { conditions: { ifNoneMatch: ['*'] } })),
      );
      expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
      const reasons = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'PreconditionFailed', status: 412 });
      await expect(put('absent', undefined, { conditions: { ifMatch: ['*'] } })).rejects.toMatchObject({
        code: 'NoSuchKey',
      });
      await expect(put('once', undefined, { conditions: { ifMatch: ['x'] } })).rejects.toMatchObject({ status: 412 });
      await expect(remove('once', { conditions: { ifMatch: ['x'] } })).rejects.toMatchObject({ status: 412 });
    });

    it('undoes a refused command alone; the others of its batch stand', async () => {
      const outcomes = await Promise.allSettled([
        put('left'),
        put('refused', { kind: 'inline', data: randomBytes(9) }, { bucketId: 12_345 }),
        put('right'),
      ]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const page = await store.listObjects({
        bucketId: bucket.id,
        versioned: false,
        prefix: '',
        delimiter: '',
        after: '',
        limit: 10,
      });
      expect(page.objects.map(({ key }) => key)).toEqual(['left', 'right']);
    });

    it.each([
      [
        'a',
        'a/b',
        'a/b/c',
        'a//b',
        '/',
        '.',
        '..',
        '../x',
        ' ',
        '%2F',
        '?',
        '#',
        'ä',
        'a\u0308',
        '\u{1f600}',
        '\u0001',
        '\\',
        "'",
        '"',
        '{index x}',
        'k'.repeat(1_024),
      ],
    ])('takes keys of every legal kind beside one another', async (...keys) => {
      for (const key of keys) await put(key, { kind: 'inline', data: Buffer.from(key) });
      for (const key of keys) {
        const found = await store.findObject({ bucketId: bucket.id, key });
        expect(Buffer.from(found?.inline ?? []).toString()).toBe(key);
      }
    });
  });

  describe('listings', () => {
    const part = fc.constantFrom('a', 'b', 'ab', '/', '//', 'a/', '\u{ff21}', '\u{1f600}', '.', '');
    const someKey = fc
      .tuple(part, part, part, part)
      .map((parts) => parts.join(''))
      .filter((key) => key !== '');

    it('pages like a plain sorted list does, for any keys, prefix, delimiter and page size', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(someKey, { maxLength: 30 }),
          part,
          fc.constantFrom('', '/', 'a', '//', 'ab'),
          fc.integer({ min: 1, max: 7 }),
          fc.boolean(),
          async (keys, prefix, delimiter, limit, versioned) => {
            for (const key of keys) await put(key);
            const seen: string[] = [];
            let after = '';
            for (let pages = 0; ; pages += 1) {
              expect(pages).toBeLessThan(100);
              const page = await store.listObjects({ bucketId: bucket.id, versioned, prefix, delimiter, after, limit });
              const entries = [...page.objects.map(({ key }) => key), ...page.commonPrefixes].toSorted(compareKeys);
              expect(entries.length).toBeLessThanOrEqual(limit);
              seen.push(...entries);
              expect(page.truncated).toBe(page.next !== null);
              if (page.next === null) break;
              expect(page.next).toBe(entries.at(-1));
              after = page.next;
            }
            expect(seen).toEqual(modelListing(keys, prefix, delimiter));
            for (const key of keys) await remove(key);
          },
        ),
        { numRuns: 60 },
      );
    }, 120_000);

    it('steps over a folder whatever is in it', async () => {
      for (let index = 0; index < 200; index += 1) await put(`folder/${String(index).padStart(4, '0')}`);
      await put('zebra');
      const query = { bucketId: bucket.id, versioned: false, prefix: '', delimiter: '/', after: '', limit: 2 };
      const page = await store.listObjects(query);
      expect(page).toMatchObject({ commonPrefixes: ['folder/'], truncated: false });
      expect(page.objects.map(({ key }) => key)).toEqual(['zebra']);
    });
  });

  describe('uploads in parts', () => {
    const uploadId = () => randomBytes(20).toString('hex');
    const begin = async (key: string) => {
      const id = uploadId();
      const upload = { uploadId: id, bucketId: bucket.id, key };
      await store.createUpload({
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
      const { blobId } = blob();
      const etag = createHash('md5').update(`${partNumber}/${size}`).digest('hex');
      await store.putPart({
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
      store.completeUpload({
        ...upload,
        parts,
        nowMs: NOW_MS,
        versionToken: 'token',
        minPartBytes: 50,
        maxObjectBytes: 10_000,
        conditions: {},
        trashDueAtMs: DUE_MS,
      });

    it('becomes an object whose manifest gives the parts of any range', async () => {
      const upload = await begin('big');
      const parts = [await addPart(upload, 2), await addPart(upload, 5), await addPart(upload, 9, 7)];
      const left = await addPart(upload, 11);
      const stored = await complete(upload, parts);
      expect(stored).toMatchObject({ sizeBytes: 207, etag: expect.stringMatching(/^[0-9a-f]{32}-3$/) });
      expect(await complete(upload, parts)).toEqual(stored);
      expect(await trash()).toEqual([left.blobId]);
      const manifest = (start: number, endExclusive: number) =>
        store.manifestParts({ manifestId: upload.uploadId, start, endExclusive, limit: 10 });
      expect((await manifest(0, 207)).map((each) => each.startOffset)).toEqual([0, 100, 200]);
      expect((await manifest(99, 101)).map((each) => each.partNumber)).toEqual([2, 5]);
      expect((await manifest(200, 207)).map((each) => each.partNumber)).toEqual([9]);
      const found = await store.findObject({ bucketId: bucket.id, key: 'big' });
      expect(found?.version).toMatchObject({ partCount: 3, attributes: { contentType: 'x/y' } });
      expect(await usage()).toEqual({ objectCount: 1, sizeBytes: 207 });
      await expect(addPart(upload, 1)).rejects.toMatchObject({ code: 'NoSuchUpload' });

      await remove('big');
      expect(await trash()).toEqual([left.blobId, upload.uploadId].toSorted());
      expect(await store.isContentNeeded({ kind: 'manifest', contentId: upload.uploadId })).toBe(false);
      expect(await store.neededBlobs({ after: '', limit: 10 })).toEqual([]);
      expect(await store.manifestBlobs({ manifestId: upload.uploadId, limit: 10 })).toHaveLength(3);
      await store.forgetManifestParts({ manifestId: upload.uploadId, throughPartNumber: 5 });
      await store.forgetTrash({ removed: [{ kind: 'manifest', contentId: upload.uploadId }], kept: [] });
      expect(await store.isBlobKnown({ blobId: parts[2]!.blobId })).toBe(false);
      await expect(complete(upload, parts)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    });

    it('refuses parts that are unknown, changed, out of order or too small, and stays open', async () => {
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

    it('replaces a part that is sent again and drops all of an aborted upload', async () => {
      const upload = await begin('big');
      const first = await addPart(upload, 1);
      const again = await addPart(upload, 1, 200);
      expect(await trash()).toEqual([first.blobId]);
      expect(
        (await store.listParts({ uploadId: upload.uploadId, afterPartNumber: 0, limit: 10 })).map((each) => each.etag),
      ).toEqual([again.etag]);
      await store.abortUpload({ ...upload, trashDueAtMs: DUE_MS });
      expect(await trash()).toEqual([first.blobId, upload.uploadId].toSorted());
      await expect(store.abortUpload({ ...upload, trashDueAtMs: DUE_MS })).rejects.toMatchObject({
        code: 'NoSuchUpload',
      });
    });

    it('lists open uploads by key and age, in pages', async () => {
      for (const key of ['a/1', 'a/2', 'b', 'b', 'c/1']) await begin(key);
      const query = { bucketId: bucket.id, prefix: '', delimiter: '', afterKey: '', afterUploadId: '', limit: 2 };
      const seen: string[] = [];
      for (let page = await store.listUploads(query); ;) {
        seen.push(...page.uploads.map(({ key }) => key));
        if (!page.truncated) break;
        page = await store.listUploads({
          ...query,
          afterKey: page.nextKey ?? '',
          afterUploadId: page.nextUploadId ?? '',
        });
      }
      expect(seen).toEqual(['a/1', 'a/2', 'b', 'b', 'c/1']);
      const rolled = await store.listUploads({ ...query, delimiter: '/', limit: 10 });
      expect(rolled.commonPrefixes).toEqual(['a/', 'c/']);
      expect(rolled.uploads.map(({ key }) => key)).toEqual(['b', 'b']);
      const prefixed = await store.listUploads({ ...query, prefix: 'b', limit: 10 });
      expect(prefixed.uploads).toHaveLength(2);
    });

    it('forgets old completions, and only those', async () => {
      const upload = await begin('big');
      const open = await begin('open');
      const parts = [await addPart(upload, 1)];
      await complete(upload, parts);
      expect(await store.forgetCompletedUploads({ beforeMs: LATER_MS, limit: 10 })).toBe(1);
      expect(await store.findUpload(open)).not.toBeNull();
      expect(await store.isContentNeeded({ kind: 'manifest', contentId: upload.uploadId })).toBe(true);
      expect((await store.neededBlobs({ after: '', limit: 10 })).map(({ blobId }) => blobId)).toEqual([
        parts[0]!.blobId,
      ]);
    });
  });

  describe('access keys', () => {
    const key = (accessKeyId: string, extra: object = {}) => ({
      accessKeyId,
      workspaceUuid,
      label: 'label',
      permissions: ['read'] as const,
      buckets: null,
      sealedSecret: 'sealed',
      createdAtMs: NOW_MS,
      createdBy: 'somebody',
      expiresAtMs: null,
      lastUsedAtMs: null,
      ...extra,
    });

    it('needs a provisioned workspace and known buckets, and stops at the limit', async () => {
      const create = (record: ReturnType<typeof key>) => store.createAccessKey({ key: record, maxKeys: 2 });
      await expect(create(key('k1', { workspaceUuid: randomUUID() }))).rejects.toMatchObject({
        code: 'TenantNotProvisioned',
      });
      await expect(create(key('k1', { buckets: ['no-such'] }))).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await create(key('k1', { buckets: ['first'] }));
      await create(key('k2'));
      await expect(create(key('k3'))).rejects.toMatchObject({ code: 'TooManyAccessKeys' });
      expect(await store.findAccessKey({ accessKeyId: 'k1' })).toEqual(key('k1', { buckets: ['first'] }));
      expect(
        (await store.listAccessKeys({ workspaceUuid, after: '', limit: 10 })).map((each) => each.accessKeyId),
      ).toEqual(['k1', 'k2']);
    });

    it('is deleted by its workspace and, where asked, only by its maker', async () => {
      await store.createAccessKey({ key: key('k1'), maxKeys: 9 });
      const target = { workspaceUuid, accessKeyId: 'k1' };
      expect(await store.deleteAccessKey({ ...target, workspaceUuid: randomUUID() })).toBe(false);
      expect(await store.deleteAccessKey({ ...target, createdBy: 'another' })).toBe(false);
      expect(await store.deleteAccessKey({ ...target, createdBy: 'somebody' })).toBe(true);
      expect(await store.deleteAccessKey(target)).toBe(false);
    });

    it('notes its last use', async () => {
      await store.createAccessKey({ key: key('k1'), maxKeys: 9 });
      await store.touchAccessKeys({ usedAtMs: { k1: LATER_MS, unknown: LATER_MS } });
      expect(await store.findAccessKey({ accessKeyId: 'k1' })).toMatchObject({ lastUsedAtMs: LATER_MS });
    });
  });
}

function modelListing(keys: readonly string[], prefix: string, delimiter: string): string[] {
  const matching = keys.filter((key) => key.startsWith(prefix));
  return [...new Set(matching.map((key) => commonPrefixOf(key, prefix, delimiter) ?? key))].toSorted(compareKeys);
}
