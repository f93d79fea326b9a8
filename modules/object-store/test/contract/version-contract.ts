import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonPrefixOf, compareKeys } from '../../src/domain/key-order.ts';
import type { ListObjectVersions, VersionPage } from '../../src/domain/ports/version-listing.ts';
import { metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

/** Contract for object versions, run against every metadata store. */
export function describeVersions(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const enable = (versioning: 'enabled' | 'suspended' = 'enabled') =>
    bench.store.setVersioning({ bucketId: bench.bucket.id, versioning });
  const list = (extra: Partial<ListObjectVersions> = {}) =>
    bench.store.listObjectVersions({
      bucketId: bench.bucket.id,
      prefix: '',
      delimiter: '',
      afterKey: '',
      afterVersionId: '',
      limit: 1_000,
      ...extra,
    });
  const shown = (page: VersionPage) => page.versions.map((version) => `${version.key}@${version.versionId}`);

  describe('versions', () => {
    it('are listed newest first per key, with delete markers and the latest flag', async () => {
      const before = await bench.put('a');
      await enable();
      const first = await bench.put('a');
      const marker = await bench.remove('a');
      const other = await bench.put('b');
      const page = await list();
      expect(shown(page)).toEqual([
        `a@${marker.versionId}`,
        `a@${first.versionId}`,
        `a@${before.versionId}`,
        `b@${other.versionId}`,
      ]);
      expect(page.versions.map(({ isLatest, deleteMarker }) => [isLatest, deleteMarker])).toEqual([
        [true, true],
        [false, false],
        [false, false],
        [true, false],
      ]);
      expect(before.versionId).toBe('null');
      expect(page).toMatchObject({ truncated: false, nextKey: null, nextVersionId: null });
    });

    it('page like a plain sorted list, for any prefix, delimiter and page size', async () => {
      await enable();
      const keys = ['a', 'a/b', 'a/b/c', 'a/c', 'b', 'b\u{1f600}', 'b\uffff', 'c/d'];
      for (let round = 0; round < 3; round += 1) {
        for (const key of keys) await (round === 1 && key < 'b' ? bench.remove(key) : bench.put(key));
      }
      const everything = (await list()).versions;
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('', 'a', 'a/', 'b', 'x'),
          fc.constantFrom('', '/', 'b'),
          fc.integer({ min: 1, max: 9 }),
          async (prefix, delimiter, limit) => {
            const expected: string[] = [];
            for (const { key, versionId } of everything.filter((version) => version.key.startsWith(prefix))) {
              const common = commonPrefixOf(key, prefix, delimiter);
              const entry = common === null ? `${key}@${versionId}` : common;
              if (entry !== expected.at(-1)) expected.push(entry);
            }
            const got: string[] = [];
            for (let [afterKey, afterVersionId] = ['', '']; ;) {
              const page = await list({ prefix, delimiter, limit, afterKey, afterVersionId });
              const entries = [...shown(page), ...page.commonPrefixes];
              expect(entries.length).toBeLessThanOrEqual(limit);
              got.push(...entries.toSorted((left, right) => compareKeys(keyOf(left), keyOf(right))));
              if (!page.truncated) break;
              [afterKey, afterVersionId] = [page.nextKey ?? '', page.nextVersionId ?? ''];
            }
            expect(got).toEqual(expected);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('resume after a null version, or at its key if it was deleted meanwhile', async () => {
      await bench.put('a');
      await bench.put('b');
      await enable();
      expect(shown(await list({ afterKey: 'a', afterVersionId: 'null' }))).toEqual(['b@null']);
      const newer = await bench.put('a');
      await bench.remove('a', { versionId: 'null' });
      expect(shown(await list({ afterKey: 'a', afterVersionId: 'null' }))).toEqual([`a@${newer.versionId}`, 'b@null']);
    });

    it('are kept in a suspended bucket, whose writes replace only the null version', async () => {
      await enable();
      const kept = await bench.put('a');
      await enable('suspended');
      await bench.put('a');
      await bench.put('a');
      expect(shown(await list())).toEqual(['a@null', `a@${kept.versionId}`]);
      expect(await bench.remove('a')).toEqual({ versionId: 'null', deleteMarker: true });
      expect(shown(await list())).toEqual(['a@null', `a@${kept.versionId}`]);
      await bench.remove('a', { versionId: 'null' });
      expect((await bench.store.findObject({ bucketId: bench.bucket.id, key: 'a' }))?.version.versionId).toBe(
        kept.versionId,
      );
      expect(await bench.usage()).toMatchObject({ objectCount: 1 });
    });

    it('are deleted only if the conditions match; an absent version matches all of them', async () => {
      await enable();
      const { versionId, etag } = await bench.put('a', { kind: 'inline', data: Buffer.from('four') });
      const remove = (conditions: object) => bench.remove('a', { versionId, conditions });
      await expect(remove({ ifMatch: ['x'] })).rejects.toMatchObject({ status: 412 });
      await expect(remove({ ifMatchSizeBytes: 5 })).rejects.toMatchObject({ status: 412 });
      await expect(remove({ ifMatchModifiedAtMs: NOW_MS - 1_000 })).rejects.toMatchObject({ status: 412 });
      const met = { ifMatch: [etag], ifMatchSizeBytes: 4, ifMatchModifiedAtMs: NOW_MS };
      await remove(met);
      await remove({ ifMatch: ['x'] });
      expect(await bench.remove('b', { conditions: { ifMatch: ['*'] } })).toMatchObject({ deleteMarker: false });
      expect(shown(await list())).toEqual([]);
    });
  });
}

function keyOf(entry: string): string {
  const at = entry.lastIndexOf('@');
  return at === -1 ? entry : entry.slice(0, at);
}
