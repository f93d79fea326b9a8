import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonPrefixOf, compareKeys } from '../../src/domain/key-order.ts';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for buckets, objects and listings, run against every metadata store. */
export function describeMetadataStore(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const { workspaceUuid } = bench;

  describe('buckets', () => {
    it('provisions the workspace with its first bucket and keeps names unique across workspaces', async () => {
      const other = randomUUID();
      expect(await bench.store.isProvisioned({ workspaceUuid })).toBe(true);
      expect(await bench.store.isProvisioned({ workspaceUuid: other })).toBe(false);
      await expect(bench.createBucket('first', workspaceUuid)).rejects.toMatchObject({
        code: 'BucketAlreadyOwnedByYou',
      });
      await expect(bench.createBucket('first', other)).rejects.toMatchObject({
        code: 'BucketAlreadyExists',
        details: {},
      });
      expect(await bench.store.isProvisioned({ workspaceUuid: other })).toBe(false);
    });

    it('lists buckets by name, with prefix and pages, and enforces the workspace limit', async () => {
      await bench.createBucket('second', workspaceUuid);
      await bench.createBucket('fir', workspaceUuid);
      await bench.createBucket('of-another', randomUUID());
      await expect(bench.createBucket('fourth', workspaceUuid)).rejects.toMatchObject({ code: 'TooManyBuckets' });
      const names = async (prefix: string, after: string, limit = 10) =>
        (await bench.store.listBuckets({ workspaceUuid, prefix, after, limit })).map(({ name }) => name);
      expect(await names('', '')).toEqual(['fir', 'first', 'second']);
      expect(await names('fir', '')).toEqual(['fir', 'first']);
      expect(await names('', 'fir', 1)).toEqual(['first']);
    });

    it('stores documents, counts their changes, and removes them with the bucket', async () => {
      const { id: bucketId } = bench.bucket;
      const version = async () => (await bench.store.findBucket({ name: 'first' }))?.configurationVersion;
      await bench.store.putBucketDocument({ bucketId, name: 'cors', document: '[1]', nowMs: NOW_MS });
      await bench.store.putBucketDocument({ bucketId, name: 'cors', document: '[2]', nowMs: NOW_MS });
      await bench.store.putBucketDocument({ bucketId, name: 'policy', document: '{}', nowMs: NOW_MS });
      expect(await bench.store.bucketDocuments({ bucketId })).toEqual({ cors: '[2]', policy: '{}' });
      expect(await version()).toBe(3);
      await bench.store.putBucketDocument({ bucketId, name: 'policy', document: null, nowMs: NOW_MS });
      expect(await bench.store.bucketDocuments({ bucketId })).toEqual({ cors: '[2]' });
      await bench.store.deleteBucket({ bucketId, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      expect(await bench.store.bucketDocuments({ bucketId })).toEqual({});
      const late = bench.store.putBucketDocument({ bucketId, name: 'cors', document: '[3]', nowMs: NOW_MS });
      await expect(late).rejects.toMatchObject({ code: 'NoSuchBucket' });
    });

    it('changes attributes of one version in place, leaving its bytes, its time and other versions alone', async () => {
      const { id: bucketId } = bench.bucket;
      await bench.store.setVersioning({ bucketId, versioning: 'enabled' });
      const older = await bench.put('a');
      const newer = await bench.put('a');
      const change = { bucketId, key: 'a', versionId: older.versionId, changes: { tags: { a: 'b' }, legalHold: true } };
      await bench.store.changeAttributes(change);
      await bench.store.changeAttributes({ ...change, changes: { legalHold: null } });
      const found = await bench.store.findObject({ bucketId, key: 'a', versionId: older.versionId });
      expect(found?.version).toMatchObject({ attributes: { tags: { a: 'b' } }, modifiedAtMs: older.modifiedAtMs });
      expect(found?.version.attributes).not.toHaveProperty('legalHold');
      const other = await bench.store.findObject({ bucketId, key: 'a' });
      expect(other?.version.versionId).toBe(newer.versionId);
      expect(other?.version.attributes).not.toHaveProperty('tags');
      const absent = bench.store.changeAttributes({ bucketId, key: 'b', changes: {} });
      await expect(absent).rejects.toMatchObject({ code: 'NoSuchKey' });
    });

    it('deletes a bucket only when empty, and then frees its name', async () => {
      await bench.put('a');
      const deletion = () =>
        bench.store.deleteBucket({ bucketId: bench.bucket.id, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      await expect(deletion()).rejects.toMatchObject({ code: 'BucketNotEmpty' });
      await bench.remove('a');
      await deletion();
      await expect(deletion()).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await expect(bench.put('a')).rejects.toMatchObject({ code: 'NoSuchBucket' });
      expect(await bench.store.findBucket({ name: 'first' })).toBeNull();
      await bench.createBucket('first', randomUUID());
    });

    it('hides a soft-deleted bucket, restores it whole, and purges it when its retention ends', async () => {
      const { blobId } = await bench.putBlob('kept');
      const soft = { bucketId: bench.bucket.id, nowMs: NOW_MS, purgeAtMs: DUE_MS };
      expect(await bench.store.softDeleteBucket(soft)).toMatchObject({ state: 'soft-deleted', purgeAtMs: DUE_MS });
      expect(await bench.store.findBucket({ name: 'first' })).toBeNull();
      await expect(bench.createBucket('first', workspaceUuid)).rejects.toMatchObject({
        code: 'BucketAlreadyExists',
        details: { soft_deleted: true },
      });
      const listed = await bench.store.listDeletedBuckets({ workspaceUuid, nowMs: NOW_MS, limit: 10 });
      expect(listed.map(({ name }) => name)).toEqual(['first']);
      const restore = (nowMs: number, owner = workspaceUuid) =>
        bench.store.restoreBucket({ name: 'first', workspaceUuid: owner, nowMs });
      await expect(restore(NOW_MS, randomUUID())).rejects.toMatchObject({ code: 'NoSuchBucket' });
      expect(await restore(NOW_MS)).toMatchObject({ state: 'active', purgeAtMs: null });
      await expect(restore(NOW_MS)).rejects.toMatchObject({ code: 'InvalidBucketState' });
      expect(await bench.store.findObject({ bucketId: bench.bucket.id, key: 'kept' })).not.toBeNull();

      await bench.store.softDeleteBucket(soft);
      await expect(restore(LATER_MS)).rejects.toMatchObject({ code: 'NoSuchBucket' });
      const purge = (nowMs: number) =>
        bench.store.purgeBucket({ bucketId: bench.bucket.id, nowMs, limit: 1, trashDueAtMs: DUE_MS });
      expect(await bench.store.bucketsToPurge({ nowMs: NOW_MS, limit: 10 })).toEqual([]);
      expect(await bench.store.bucketsToPurge({ nowMs: LATER_MS, limit: 10 })).toEqual([bench.bucket.id]);
      expect(await purge(LATER_MS)).toBe(false);
      expect(await purge(LATER_MS)).toBe(true);
      expect(await bench.trash()).toEqual([blobId]);
      await bench.createBucket('first', randomUUID());
    });
  });

  describe('objects', () => {
    it('stores inline bytes in the row', async () => {
      const data = randomBytes(5_000);
      await bench.put('inline', { kind: 'inline', data });
      const found = await bench.store.findObject({ bucketId: bench.bucket.id, key: 'inline' });
      expect(Buffer.from(found?.inline ?? [])).toEqual(data);
      expect(found?.version).toMatchObject({ versionId: 'null', isLatest: true, sizeBytes: 5_000 });
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 5_000 });
    });

    it('replaces an object, trashes the old bytes, and keeps exact counters', async () => {
      const { blobId } = await bench.putBlob('a');
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 1_000 });
      expect(await bench.trash()).toEqual([]);
      await bench.put('a', { kind: 'inline', data: randomBytes(10) });
      expect(await bench.trash()).toEqual([blobId]);
      expect(await bench.usage()).toEqual({ objectCount: 1, sizeBytes: 10 });
      await bench.remove('a');
      await bench.remove('a');
      expect(await bench.usage()).toEqual({ objectCount: 0, sizeBytes: 0 });
      expect(await bench.store.findObject({ bucketId: bench.bucket.id, key: 'a' })).toBeNull();
      expect(
        (await bench.store.usageDrift({ after: -1, limit: 100 })).every(
          (row) => row.counted.sizeBytes === row.actual.sizeBytes,
        ),
      ).toBe(true);
    });

    it('evaluates conditions in the transaction: only one of many concurrent creates succeeds', async () => {
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, () => bench.put('once', { kind: 'empty' }, { conditions: { ifNoneMatch: ['*'] } })),
      );
      expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
      const reasons = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'PreconditionFailed', status: 412 });
      await expect(bench.put('absent', undefined, { conditions: { ifMatch: ['*'] } })).rejects.toMatchObject({
        code: 'NoSuchKey',
      });
      await expect(bench.put('once', undefined, { conditions: { ifMatch: ['x'] } })).rejects.toMatchObject({
        status: 412,
      });
      await expect(bench.remove('once', { conditions: { ifMatch: ['x'] } })).rejects.toMatchObject({ status: 412 });
    });

    it('rolls back a failed command alone; the rest of its batch commits', async () => {
      const outcomes = await Promise.allSettled([
        bench.put('left'),
        bench.put('refused', { kind: 'inline', data: randomBytes(9) }, { bucketId: 12_345 }),
        bench.put('right'),
      ]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const page = await bench.store.listObjects({
        bucketId: bench.bucket.id,
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
    ])('accepts every kind of legal key side by side', async (...keys) => {
      for (const key of keys) await bench.put(key, { kind: 'inline', data: Buffer.from(key) });
      for (const key of keys) {
        const found = await bench.store.findObject({ bucketId: bench.bucket.id, key });
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

    it('pages like a plain sorted list, for any keys, prefix, delimiter and page size', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(someKey, { maxLength: 30 }),
          part,
          fc.constantFrom('', '/', 'a', '//', 'ab'),
          fc.integer({ min: 1, max: 7 }),
          fc.boolean(),
          async (keys, prefix, delimiter, limit, versioned) => {
            for (const key of keys) await bench.put(key);
            const seen: string[] = [];
            let after = '';
            for (let pages = 0; ; pages += 1) {
              expect(pages).toBeLessThan(100);
              const page = await bench.store.listObjects({
                bucketId: bench.bucket.id,
                versioned,
                prefix,
                delimiter,
                after,
                limit,
              });
              const entries = [...page.objects.map(({ key }) => key), ...page.commonPrefixes].toSorted(compareKeys);
              expect(entries.length).toBeLessThanOrEqual(limit);
              seen.push(...entries);
              expect(page.truncated).toBe(page.next !== null);
              if (page.next === null) break;
              expect(page.next).toBe(entries.at(-1));
              after = page.next;
            }
            expect(seen).toEqual(modelListing(keys, prefix, delimiter));
            for (const key of keys) await bench.remove(key);
          },
        ),
        { numRuns: 60 },
      );
    }, 120_000);

    it('skips a folder however many keys it has', async () => {
      for (let index = 0; index < 200; index += 1) await bench.put(`folder/${String(index).padStart(4, '0')}`);
      await bench.put('zebra');
      const query = { bucketId: bench.bucket.id, versioned: false, prefix: '', delimiter: '/', after: '', limit: 2 };
      const page = await bench.store.listObjects(query);
      expect(page).toMatchObject({ commonPrefixes: ['folder/'], truncated: false });
      expect(page.objects.map(({ key }) => key)).toEqual(['zebra']);
    });
  });
}

function modelListing(keys: readonly string[], prefix: string, delimiter: string): string[] {
  const matching = keys.filter((key) => key.startsWith(prefix));
  return [...new Set(matching.map((key) => commonPrefixOf(key, prefix, delimiter) ?? key))].toSorted(compareKeys);
}
