import { storeErrors } from '../../errors.ts';
import type { BucketConfiguration } from '../bucket-configurations.ts';
import { allowsContentType, storedSettingsOf } from './bucket-settings.ts';

/**
 * What a bucket takes by its settings. Throws `EntityTooLarge` and `InvalidRequest`. Quotas are not decided here but in the
 * transaction, where they are exact.
 */
export function assertUploadAllowed(
  configuration: BucketConfiguration,
  { sizeBytes, contentType }: { sizeBytes?: number; contentType?: string },
): void {
  const { maxObjectSizeBytes = null, allowedContentTypes = null } = storedSettingsOf(configuration);
  if (maxObjectSizeBytes !== null && sizeBytes !== undefined && sizeBytes > maxObjectSizeBytes) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: maxObjectSizeBytes } });
  }
  if (contentType !== undefined && !allowsContentType({ allowedContentTypes }, contentType)) {
    const reason = `This bucket takes only ${(allowedContentTypes ?? []).join(', ')}`;
    throw storeErrors.InvalidRequest({ details: { field: 'content_type', reason } });
  }
}

/** The largest object that the bucket takes, given what the store takes. */
export function maxObjectBytes(configuration: BucketConfiguration, limitBytes: number): number {
  return Math.min(storedSettingsOf(configuration).maxObjectSizeBytes ?? limitBytes, limitBytes);
}
