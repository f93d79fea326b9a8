import type { BlobStore } from '../../../domain/ports/blob-store.ts';
import type { S3EngineOptions } from './options.ts';

/**
 * Blobs in a bucket of an S3-compatible engine. Does not speak to it yet: a platform starts also while its engine is
 * away. The SDK costs memory, so it is loaded here and not with the module.
 */
export async function openS3BlobStore(options: S3EngineOptions): Promise<BlobStore> {
  const { createS3BlobStore } = await import('./blob-store.ts');
  return createS3BlobStore(options);
}
