import { absentOperations } from './absent.ts';
import { aclOperations } from './acl.ts';
import { bucketPropertiesOperations } from './bucket-properties.ts';
import { bucketsOperations } from './buckets.ts';
import { completeUploadOperations } from './complete-upload.ts';
import { copyOperations } from './copy.ts';
import { corsOperations } from './cors.ts';
import { deleteObjectOperations } from './delete-object.ts';
import { encryptionOperations } from './encryption.ts';
import { getObjectOperations } from './get-object.ts';
import { lifecycleOperations } from './lifecycle.ts';
import { listingsOperations } from './listings.ts';
import { lockOperations } from './lock.ts';
import { multipartListingsOperations } from './multipart-listings.ts';
import { multipartOperations } from './multipart.ts';
import { notificationsOperations } from './notifications.ts';
import { objectAttributesOperations } from './object-attributes.ts';
import { ownershipOperations } from './ownership.ts';
import { policyOperations } from './policy.ts';
import { publicAccessBlockOperations } from './public-access-block.ts';
import { putObjectOperations } from './put-object.ts';
import { taggingOperations } from './tagging.ts';
import { uploadFormOperations } from './upload-form.ts';
import { uploadPartCopyOperations } from './upload-part-copy.ts';
import { versionListingOperations } from './version-listing.ts';
import { versioningOperations } from './versioning.ts';
import { websiteOperations } from './website.ts';

/** Every operation of the S3 plane. To add one, declare it with `defineOperation` and list it here. */
export const operations = [
  ...bucketsOperations,
  ...listingsOperations,
  ...versionListingOperations,
  ...versioningOperations,
  ...multipartListingsOperations,
  ...deleteObjectOperations,
  ...putObjectOperations,
  ...getObjectOperations,
  ...multipartOperations,
  ...completeUploadOperations,
  ...taggingOperations,
  ...lifecycleOperations,
  ...lockOperations,
  ...corsOperations,
  ...bucketPropertiesOperations,
  ...encryptionOperations,
  ...aclOperations,
  ...policyOperations,
  ...publicAccessBlockOperations,
  ...ownershipOperations,
  ...copyOperations,
  ...uploadPartCopyOperations,
  ...uploadFormOperations,
  ...objectAttributesOperations,
  ...websiteOperations,
  ...notificationsOperations,
];

export type ImplementedOperation = (typeof operations)[number]['name'];
export type OperationName = ImplementedOperation | (typeof absentOperations)[number]['name'];

/** Names of the implemented operations. */
export const IMPLEMENTED: readonly ImplementedOperation[] = operations.map(({ name }) => name);
/** Names of the operations answered with 501. */
export const NOT_IMPLEMENTED: readonly OperationName[] = absentOperations.map(({ name }) => name);
