import type { ObjectPage } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { deleteEntries } from './delete-entries.ts';
import type { Entry } from './entries.ts';

/** A fake bucket with these keys, for the two calls of a deletion. */
function createBucket(keys: Set<string>, locked: ReadonlySet<string> = new Set()) {
  return {
    page: ({ prefix = '', limit = 1_000 }: { prefix?: string | undefined; limit?: number | undefined }) => {
      const found = [...keys].filter((key) => key.startsWith(prefix)).slice(0, limit);
      const objects = found.map((key) => ({
        key,
        size: 1,
        etag: 'e',
        last_modified: '2026-01-01T00:00:00.000Z',
        content_type: 'text/plain',
        storage_class: 'STANDARD',
        version_id: null,
        public: false,
      }));
      const page: ObjectPage = { objects, prefixes: [], cursor: null, truncated: false, key_count: found.length };
      return Promise.resolve(page);
    },
    deleteMany: (wanted: readonly string[]) => {
      expect(wanted.length).toBeLessThanOrEqual(1_000);
      const deleted = wanted.filter((key) => !locked.has(key));
      for (const key of deleted) keys.delete(key);
      const errors = wanted
        .filter((key) => locked.has(key))
        .map((key) => ({ key, version_id: null, code: 'AccessDenied', message: 'locked' }));
      const answers = deleted.map((key) => ({ key, deleted: true, delete_marker: false, version_id: null }));
      return Promise.resolve({ deleted: answers, errors });
    },
  };
}

const folder = (key: string): Entry => ({ kind: 'folder', key, name: key });

describe('deleting selected entries', () => {
  it('empties a folder of more objects than one call deletes, and nothing else', async () => {
    const keys = new Set(Array.from({ length: 2_345 }, (_, index) => `a/${index}`).concat('ab', 'b/1'));
    expect(await deleteEntries(createBucket(keys), [folder('a/')])).toBe(2_345);
    expect([...keys]).toEqual(['ab', 'b/1']);
  });

  it('stops with the reason if something cannot be deleted', async () => {
    const keys = new Set(['a/1', 'a/2']);
    const deletion = deleteEntries(createBucket(keys, new Set(['a/2'])), [folder('a/')]);
    await expect(deletion).rejects.toThrow('a/2 was not deleted: locked');
  });
});
