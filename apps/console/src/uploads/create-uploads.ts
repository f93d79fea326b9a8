import type { CoreClient } from '@svc/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { bucketKey, filesKey, storeKey } from '../api/query-keys.ts';
import { scopeOf } from '../api/queries.ts';
import { StartedUploads } from './started-uploads.ts';
import { isFileTarget, UploadQueue, type UploadTarget } from './upload-queue.ts';
import type { NewUpload, Uploads } from './uploads-context.ts';

/** Creates the single upload queue of the console. */
export function createUploads(svc: CoreClient, queryClient: QueryClient): Uploads {
  const started = new StartedUploads(window.localStorage);
  // Both are loaded with the first upload; the one for buckets brings the object store client.
  const openBuckets = async () => new (await import('./bucket-uploads.ts')).BucketUploads(svc, started);
  const loadFileUpload = async () => (await import('./upload-file.ts')).uploadFile;
  const queue = new UploadQueue({
    now: Date.now,
    send: async (target, file, hooks) => {
      if (isFileTarget(target)) await (await loadFileUpload())(svc.transport, target, file, hooks);
      else await (await openBuckets()).send(target, file, hooks);
    },
    discard: async (target, file) => {
      if (!isFileTarget(target)) await (await openBuckets()).discard(target, file);
    },
    onStored: (target) => {
      for (const queryKey of keysOf(target)) void queryClient.invalidateQueries({ queryKey });
    },
  });
  return { queue, add: (uploads: readonly NewUpload[]) => queue.add(uploads.map(toEntry)) };
}

function toEntry({ workspace, file, ...place }: NewUpload): { target: UploadTarget; file: File } {
  return { target: { ...scopeOf(workspace), ...place }, file };
}

/** Returns the query keys to refetch after an upload. */
function keysOf(target: UploadTarget): (readonly unknown[])[] {
  const workspace = { uuid: target.workspaceUuid };
  if (isFileTarget(target)) return [filesKey(workspace, target.owner)];
  return [bucketKey(workspace, target.bucket), [...storeKey(workspace), 'buckets']];
}
