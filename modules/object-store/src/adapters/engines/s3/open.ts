import type { BlobStore } from '../../../domain/ports/blob-store.ts';
import type { S3EngineOptions } from './options.ts';

/**
 * Opens a store of blobs in a bucket of an S3-compatible engine. Sends no request yet, so the platform starts even
 * while the engine is away. The SDK costs memory, so it is loaded only here.
 */
export async function openS3BlobStore(options: S3EngineOptions): Promise<BlobStore> {
  const { createS3BlobStore } = await import('./blob-store.ts');
  return createS3BlobStore(options);
}
