import type { OperationRoute } from '../operation.ts';

/**
 * S3 operations without an implementation. Each returns 501 with its name, so that clients never mistake a partial
 * response for a complete one.
 */
export const absentOperations = [
  { name: 'GetObjectTorrent', on: 'object', method: 'GET', subresource: 'torrent' },
  { name: 'RestoreObject', on: 'object', method: 'POST', subresource: 'restore' },
  { name: 'SelectObjectContent', on: 'object', method: 'POST', subresource: 'select' },
  { name: 'RenameObject', on: 'object', method: 'PUT', subresource: 'renameObject' },
  { name: 'GetBucketReplication', on: 'bucket', method: 'GET', subresource: 'replication' },
  { name: 'PutBucketReplication', on: 'bucket', method: 'PUT', subresource: 'replication' },
  { name: 'DeleteBucketReplication', on: 'bucket', method: 'DELETE', subresource: 'replication' },
  { name: 'BucketAnalyticsConfiguration', on: 'bucket', method: ['GET', 'PUT', 'DELETE'], subresource: 'analytics' },
  { name: 'BucketInventoryConfiguration', on: 'bucket', method: ['GET', 'PUT', 'DELETE'], subresource: 'inventory' },
  { name: 'BucketMetricsConfiguration', on: 'bucket', method: ['GET', 'PUT', 'DELETE'], subresource: 'metrics' },
  {
    name: 'BucketIntelligentTieringConfiguration',
    on: 'bucket',
    method: ['GET', 'PUT', 'DELETE'],
    subresource: 'intelligent-tiering',
  },
  { name: 'CreateSession', on: 'bucket', method: 'GET', subresource: 'session' },
] as const satisfies readonly OperationRoute[];

/** Headers that would change what an operation does. Rejected by name rather than ignored. */
export const HEADERS_NOT_IMPLEMENTED: readonly string[] = [
  'x-amz-server-side-encryption-context',
  'x-amz-write-offset-bytes',
  'x-amz-mfa',
];
