import { ApiError, ObjectStoreClient, type CoreClient } from '@svc/sdk';
import { uploadsTo } from '../api/object-store.ts';
import type { StartedUploads } from './started-uploads.ts';
import type { BucketTarget, SendHooks } from './upload-queue.ts';

const MiB = 1024 * 1024;
/** Fixed per file, so that parts from an earlier attempt match. */
const PART_BYTES = 16 * MiB;
const MOST_PARTS = 10_000;

/** Uploads files to buckets; large ones in parts, resuming where they stopped. */
export class BucketUploads {
  readonly #svc: CoreClient;
  readonly #started: StartedUploads;

  constructor(svc: CoreClient, started: StartedUploads) {
    this.#svc = svc;
    this.#started = started;
  }

  async send(target: BucketTarget, file: File, { signal, onProgress }: SendHooks): Promise<void> {
    const objects = this.#createClient(target);
    const partSizeBytes = Math.max(PART_BYTES, Math.ceil(file.size / MOST_PARTS));
    const name = nameOf(target, file);
    const uploadId = file.size <= partSizeBytes ? undefined : this.#started.get(name);
    const options = {
      signal,
      onProgress,
      partSizeBytes,
      keepOnFailure: true,
      onStart: (id: string) => this.#started.set(name, id),
      ...(file.type === '' ? {} : { contentType: file.type }),
    };
    try {
      await objects.upload(target.key, file, uploadId === undefined ? options : { ...options, resume: { uploadId } });
    } catch (error) {
      // The upload to resume has ended, so start over.
      if (uploadId === undefined || !(error instanceof ApiError) || error.code !== 'NoSuchUpload') throw error;
      await objects.upload(target.key, file, options);
    }
    this.#started.delete(name);
  }

  async discard(target: BucketTarget, file: File): Promise<void> {
    const uploadId = this.#started.get(nameOf(target, file));
    if (uploadId === undefined) return;
    this.#started.delete(nameOf(target, file));
    await this.#createClient(target).multipart.abort({ key: target.key, uploadId });
  }

  #createClient({ workspaceUuid, teamUuid, bucket }: BucketTarget) {
    return uploadsTo(new ObjectStoreClient(this.#svc.transport, { workspaceUuid, teamUuid }), bucket);
  }
}

function nameOf({ workspaceUuid, bucket, key }: BucketTarget, file: File): string {
  return JSON.stringify([workspaceUuid, bucket, key, file.size, file.lastModified]);
}
