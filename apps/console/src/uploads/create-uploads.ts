import { ApiError, type SvcClient } from '@svc/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { bucketKey, storeKey, uploadsTo } from '../api/object-store.ts';
import { scopeOf } from '../api/queries.ts';
import { StartedUploads } from './started-uploads.ts';
import { UploadQueue, type SendFile, type UploadTarget } from './upload-queue.ts';
import type { NewUpload, Uploads } from './uploads-context.ts';

const MiB = 1024 * 1024;
/** The same for a file whenever it is sent, so that what arrived before fits. */
const PART_BYTES = 16 * MiB;
const MOST_PARTS = 10_000;

/** One for the whole console. */
export function createUploads(svc: SvcClient, queryClient: QueryClient): Uploads {
  const clientOf = ({ workspaceUuid, teamUuid, bucket }: UploadTarget) =>
    uploadsTo(svc.objectStore({ workspaceUuid, teamUuid }), bucket);
  const started = new StartedUploads(window.localStorage);

  const send: SendFile = async (target, file, { signal, onProgress }) => {
    const objects = clientOf(target);
    const partSizeBytes = Math.max(PART_BYTES, Math.ceil(file.size / MOST_PARTS));
    const name = nameOf(target, file);
    const uploadId = file.size <= partSizeBytes ? undefined : started.get(name);
    const options = {
      signal,
      onProgress,
      partSizeBytes,
      keepOnFailure: true,
      onStart: (id: string) => started.set(name, id),
      ...(file.type === '' ? {} : { contentType: file.type }),
    };
    try {
      await objects.upload(target.key, file, uploadId === undefined ? options : { ...options, resume: { uploadId } });
    } catch (error) {
      // What was to be continued ended meanwhile: it begins anew.
      if (uploadId === undefined || !(error instanceof ApiError) || error.code !== 'NoSuchUpload') throw error;
      await objects.upload(target.key, file, options);
    }
    started.delete(name);
  };

  const queue = new UploadQueue({
    send,
    now: Date.now,
    discard: async (target, file) => {
      const uploadId = started.get(nameOf(target, file));
      if (uploadId === undefined) return;
      started.delete(nameOf(target, file));
      await clientOf(target).multipart.abort({ key: target.key, uploadId });
    },
    onStored: ({ workspaceUuid, bucket }) => {
      void queryClient.invalidateQueries({ queryKey: bucketKey({ uuid: workspaceUuid }, bucket) });
      void queryClient.invalidateQueries({ queryKey: [...storeKey({ uuid: workspaceUuid }), 'buckets'] });
    },
  });
  return {
    queue,
    add: (uploads: readonly NewUpload[]) =>
      queue.add(
        uploads.map(({ workspace, bucket, key, file }) => ({ target: { ...scopeOf(workspace), bucket, key }, file })),
      ),
  };
}

function nameOf({ workspaceUuid, bucket, key }: UploadTarget, file: File): string {
  return JSON.stringify([workspaceUuid, bucket, key, file.size, file.lastModified]);
}
