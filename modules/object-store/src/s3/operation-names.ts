/** Operations of S3 that are here; each has its handler in `operations.ts`. */
export const IMPLEMENTED = [
  'ListBuckets',
  'CreateBucket',
  'HeadBucket',
  'DeleteBucket',
  'GetBucketLocation',
  'ListObjects',
  'ListObjectsV2',
  'ListObjectVersions',
  'GetBucketVersioning',
  'PutBucketVersioning',
  'ListMultipartUploads',
  'DeleteObjects',
  'PutObject',
  'GetObject',
  'HeadObject',
  'DeleteObject',
  'CreateMultipartUpload',
  'UploadPart',
  'CompleteMultipartUpload',
  'AbortMultipartUpload',
  'ListParts',
  'GetObjectTagging',
  'PutObjectTagging',
  'DeleteObjectTagging',
  'GetBucketLifecycleConfiguration',
  'PutBucketLifecycleConfiguration',
  'DeleteBucketLifecycle',
  'GetBucketTagging',
  'PutBucketTagging',
  'DeleteBucketTagging',
  'GetObjectLockConfiguration',
  'PutObjectLockConfiguration',
  'GetObjectRetention',
  'PutObjectRetention',
  'GetObjectLegalHold',
  'PutObjectLegalHold',
  'GetBucketCors',
  'PutBucketCors',
  'DeleteBucketCors',
  'GetBucketRequestPayment',
  'PutBucketRequestPayment',
  'GetBucketAccelerateConfiguration',
  'PutBucketAccelerateConfiguration',
  'GetBucketLogging',
  'PutBucketLogging',
  'GetBucketEncryption',
  'PutBucketEncryption',
  'DeleteBucketEncryption',
  'GetObjectAcl',
  'PutObjectAcl',
  'GetBucketPolicy',
  'PutBucketPolicy',
  'DeleteBucketPolicy',
  'GetBucketPolicyStatus',
  'GetBucketAcl',
  'PutBucketAcl',
  'GetPublicAccessBlock',
  'PutPublicAccessBlock',
  'DeletePublicAccessBlock',
  'GetBucketOwnershipControls',
  'PutBucketOwnershipControls',
  'DeleteBucketOwnershipControls',
  'CopyObject',
  'UploadPartCopy',
  'PostObject',
  'GetObjectAttributes',
  'GetBucketWebsite',
  'PutBucketWebsite',
  'DeleteBucketWebsite',
  'GetBucketNotificationConfiguration',
  'PutBucketNotificationConfiguration',
] as const;

/**
 * Operations of S3 that are not here: each is recognized and answered 501 with its own name, so that a client never
 * takes a half answer for a whole one. This is the one list of them; the documentation is made from it.
 */
export const NOT_IMPLEMENTED = [
  'GetObjectTorrent',
  'RestoreObject',
  'SelectObjectContent',
  'RenameObject',
  'GetBucketReplication',
  'PutBucketReplication',
  'DeleteBucketReplication',
  'BucketAnalyticsConfiguration',
  'BucketInventoryConfiguration',
  'BucketMetricsConfiguration',
  'BucketIntelligentTieringConfiguration',
  'CreateSession',
] as const;

/** Headers that would change what an operation does, and do not yet: refused by name instead of overlooked. */
export const HEADERS_NOT_IMPLEMENTED: readonly string[] = [
  'x-amz-server-side-encryption-context',
  'x-amz-write-offset-bytes',
  'x-amz-mfa',
];

export type ImplementedOperation = (typeof IMPLEMENTED)[number];
export type OperationName = ImplementedOperation | (typeof NOT_IMPLEMENTED)[number];

export function isImplemented(name: OperationName): name is ImplementedOperation {
  return (IMPLEMENTED as readonly string[]).includes(name); // widened only to be asked
}
