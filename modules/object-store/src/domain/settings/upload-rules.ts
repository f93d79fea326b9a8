import { storeErrors } from '../../errors.ts';
import type { BucketConfiguration } from '../bucket-configurations.ts';
import { allowsContentType, readStoredSettings } from './bucket-settings.ts';

/**
 * Checks an upload against the bucket's settings. Throws `EntityTooLarge` or `InvalidRequest`. Quotas are checked in
 * the transaction, where they are exact.
 */
export function assertUploadAllowed(
  configuration: BucketConfiguration,
  { sizeBytes, contentType }: { sizeBytes?: number | undefined; contentType?: string | undefined },
): void {
  const { maxObjectSizeBytes = null, allowedContentTypes = null } = readStoredSettings(configuration);
  if (maxObjectSizeBytes !== null && sizeBytes !== undefined && sizeBytes > maxObjectSizeBytes) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: maxObjectSizeBytes } });
  }
  if (contentType !== undefined && !allowsContentType({ allowedContentTypes }, contentType)) {
    const reason = `This bucket accepts only ${(allowedContentTypes ?? []).join(', ')}`;
    throw storeErrors.InvalidRequest({ details: { field: 'content_type', reason } });
  }
}

/** The smaller of the bucket's and the store's maximum object size. */
export function maxObjectBytes(configuration: BucketConfiguration, limitBytes: number): number {
  return Math.min(readStoredSettings(configuration).maxObjectSizeBytes ?? limitBytes, limitBytes);
}
