import type { ObjectsClient } from '@svc/sdk';
import type { Entry } from './entries.ts';

/** Maximum keys per call. */
const BATCH = 1_000;

type Deletes = Pick<ObjectsClient, 'page' | 'deleteMany'>;

/** Deletes objects, and folders with their contents, page by page. Returns the number of objects. */
export async function deleteEntries(objects: Deletes, entries: readonly Entry[]): Promise<number> {
  let count = 0;
  const keys = entries.filter(({ kind }) => kind === 'object').map(({ key }) => key);
  for (let start = 0; start < keys.length; start += BATCH) {
    count += await deleteAll(objects, keys.slice(start, start + BATCH));
  }
  for (const folder of entries.filter(({ kind }) => kind === 'folder')) {
    // Always the first page: its keys are deleted before the next request, and an error ends the loop.
    for (;;) {
      const page = await objects.page({ prefix: folder.key, limit: BATCH });
      if (page.objects.length === 0) break;
      count += await deleteAll(
        objects,
        page.objects.map(({ key }) => key),
      );
    }
  }
  return count;
}

async function deleteAll(objects: Deletes, keys: readonly string[]): Promise<number> {
  const { deleted, errors } = await objects.deleteMany(keys);
  const [first] = errors;
  if (first !== undefined) throw new Error(`${first.key} was not deleted: ${first.message}`);
  return deleted.length;
}
