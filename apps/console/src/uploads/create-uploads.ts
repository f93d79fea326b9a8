import type { CoreClient } from '@svc/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { bucketKey, filesKey, storeKey } from '../api/query-keys.ts';
import { scopeOf } from '../api/queries.ts';
import { StartedUploads } from './started-uploads.ts';
import { uploadFile } from './upload-file.ts';
import { isFileTarget, UploadQueue, type UploadTarget } from './upload-queue.ts';
import type { NewUpload, Uploads } from './uploads-context.ts';

/** Creates the single upload queue of the console. */
export function createUploads(svc: CoreClient, queryClient: QueryClient): Uploads {
  const started = new StartedUploads(window.localStorage);
  // Loaded with the first upload, since it brings the object store client.
  const openBuckets = async () => new (await import('./bucket-uploads.ts')).BucketUploads(svc, started);
  const queue = new UploadQueue({
    now: Date.now,
    send: async (target, file, hooks) => {
      if (isFileTarget(target)) await uploadFile(svc.transport, target, file, hooks);
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
