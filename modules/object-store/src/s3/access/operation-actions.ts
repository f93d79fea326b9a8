import type { AclNeed } from '../../domain/access/decide.ts';
import type { OperationName } from '../operation-names.ts';

/** What an operation asks of policies and ACLs. */
export interface OperationAction {
  action: string;
  /** Where the request names a version. */
  versionAction?: string;
  /**
   * What it is done to. `service`: only the key counts. `key`: a name in the bucket, whether anything has it or not.
   * `object`: an object that is there. `each`: the handler asks for every object. `open`: the handler asks, or nobody needs to.
   */
  on: 'service' | 'bucket' | 'key' | 'object' | 'each' | 'open';
  /** The handler comes to the object by `findObject` alone, so that nothing is read twice. */
  byHandler?: true;
  acl?: AclNeed;
}

const LIST: AclNeed = { on: 'bucket', permission: 'READ' };
const WRITE: AclNeed = { on: 'bucket', permission: 'WRITE' };
const READ: AclNeed = { on: 'object', permission: 'READ' };

const service = (action: string): OperationAction => ({ action, on: 'service' });
const bucket = (action: string, acl?: AclNeed): OperationAction => ({ action, on: 'bucket', ...(acl ? { acl } : {}) });
const name = (action: string, acl?: AclNeed): OperationAction => ({ action, on: 'key', ...(acl ? { acl } : {}) });
const object = (action: string, versionAction = action, acl?: AclNeed): OperationAction => ({
  action,
  versionAction,
  on: 'object',
  ...(acl ? { acl } : {}),
});
const open: OperationAction = { action: '', on: 'open' };

/** One line for every operation, also for those that are not here yet: they are refused before they are named. */
export const operationActions: Readonly<Record<OperationName, OperationAction>> = {
  ListBuckets: service('s3:ListAllMyBuckets'),
  CreateBucket: service('s3:CreateBucket'),
  HeadBucket: bucket('s3:ListBucket', LIST),
  DeleteBucket: bucket('s3:DeleteBucket'),
  GetBucketLocation: bucket('s3:GetBucketLocation'),
  ListObjects: bucket('s3:ListBucket', LIST),
  ListObjectsV2: bucket('s3:ListBucket', LIST),
  ListObjectVersions: bucket('s3:ListBucketVersions', LIST),
  ListMultipartUploads: bucket('s3:ListBucketMultipartUploads', LIST),

  PutObject: name('s3:PutObject', WRITE),
  CopyObject: name('s3:PutObject', WRITE),
  CreateMultipartUpload: name('s3:PutObject', WRITE),
  UploadPart: name('s3:PutObject', WRITE),
  UploadPartCopy: name('s3:PutObject', WRITE),
  CompleteMultipartUpload: name('s3:PutObject', WRITE),
  AbortMultipartUpload: name('s3:AbortMultipartUpload', WRITE),
  ListParts: name('s3:ListMultipartUploadParts', WRITE),
  PostObject: open,
  RenameObject: name('s3:PutObject'),
  DeleteObject: { action: 's3:DeleteObject', versionAction: 's3:DeleteObjectVersion', on: 'key', acl: WRITE },
  DeleteObjects: { action: 's3:DeleteObject', versionAction: 's3:DeleteObjectVersion', on: 'each', acl: WRITE },

  GetObject: { ...object('s3:GetObject', 's3:GetObjectVersion', READ), byHandler: true },
  HeadObject: { ...object('s3:GetObject', 's3:GetObjectVersion', READ), byHandler: true },
  GetObjectAttributes: object('s3:GetObjectAttributes', 's3:GetObjectVersionAttributes', READ),
  GetObjectTagging: object('s3:GetObjectTagging', 's3:GetObjectVersionTagging'),
  PutObjectTagging: object('s3:PutObjectTagging', 's3:PutObjectVersionTagging'),
  DeleteObjectTagging: object('s3:DeleteObjectTagging', 's3:DeleteObjectVersionTagging'),
  GetObjectAcl: object('s3:GetObjectAcl', 's3:GetObjectVersionAcl', { on: 'object', permission: 'READ_ACP' }),
  PutObjectAcl: object('s3:PutObjectAcl', 's3:PutObjectVersionAcl', { on: 'object', permission: 'WRITE_ACP' }),
  GetObjectRetention: object('s3:GetObjectRetention'),
  PutObjectRetention: object('s3:PutObjectRetention'),
  GetObjectLegalHold: object('s3:GetObjectLegalHold'),
  PutObjectLegalHold: object('s3:PutObjectLegalHold'),
  GetObjectTorrent: object('s3:GetObjectTorrent', 's3:GetObjectVersionTorrent'),
  RestoreObject: object('s3:RestoreObject'),
  SelectObjectContent: object('s3:GetObject', 's3:GetObjectVersion', READ),

  GetBucketVersioning: bucket('s3:GetBucketVersioning'),
  PutBucketVersioning: bucket('s3:PutBucketVersioning'),
  GetBucketLifecycleConfiguration: bucket('s3:GetLifecycleConfiguration'),
  PutBucketLifecycleConfiguration: bucket('s3:PutLifecycleConfiguration'),
  DeleteBucketLifecycle: bucket('s3:PutLifecycleConfiguration'),
  GetBucketCors: bucket('s3:GetBucketCORS'),
  PutBucketCors: bucket('s3:PutBucketCORS'),
  DeleteBucketCors: bucket('s3:PutBucketCORS'),
  GetBucketPolicy: bucket('s3:GetBucketPolicy'),
  PutBucketPolicy: bucket('s3:PutBucketPolicy'),
  DeleteBucketPolicy: bucket('s3:DeleteBucketPolicy'),
  GetBucketPolicyStatus: bucket('s3:GetBucketPolicyStatus'),
  GetBucketAcl: bucket('s3:GetBucketAcl', { on: 'bucket', permission: 'READ_ACP' }),
  PutBucketAcl: bucket('s3:PutBucketAcl', { on: 'bucket', permission: 'WRITE_ACP' }),
  GetBucketTagging: bucket('s3:GetBucketTagging'),
  PutBucketTagging: bucket('s3:PutBucketTagging'),
  DeleteBucketTagging: bucket('s3:PutBucketTagging'),
  GetBucketWebsite: bucket('s3:GetBucketWebsite'),
  PutBucketWebsite: bucket('s3:PutBucketWebsite'),
  DeleteBucketWebsite: bucket('s3:DeleteBucketWebsite'),
  GetBucketEncryption: bucket('s3:GetEncryptionConfiguration'),
  PutBucketEncryption: bucket('s3:PutEncryptionConfiguration'),
  DeleteBucketEncryption: bucket('s3:PutEncryptionConfiguration'),
  GetObjectLockConfiguration: bucket('s3:GetBucketObjectLockConfiguration'),
  PutObjectLockConfiguration: bucket('s3:PutBucketObjectLockConfiguration'),
  GetPublicAccessBlock: bucket('s3:GetBucketPublicAccessBlock'),
  PutPublicAccessBlock: bucket('s3:PutBucketPublicAccessBlock'),
  DeletePublicAccessBlock: bucket('s3:PutBucketPublicAccessBlock'),
  GetBucketOwnershipControls: bucket('s3:GetBucketOwnershipControls'),
  PutBucketOwnershipControls: bucket('s3:PutBucketOwnershipControls'),
  DeleteBucketOwnershipControls: bucket('s3:PutBucketOwnershipControls'),
  GetBucketLogging: bucket('s3:GetBucketLogging'),
  PutBucketLogging: bucket('s3:PutBucketLogging'),
  GetBucketNotificationConfiguration: bucket('s3:GetBucketNotification'),
  PutBucketNotificationConfiguration: bucket('s3:PutBucketNotification'),
  GetBucketRequestPayment: bucket('s3:GetBucketRequestPayment'),
  PutBucketRequestPayment: bucket('s3:PutBucketRequestPayment'),
  GetBucketAccelerateConfiguration: bucket('s3:GetAccelerateConfiguration'),
  PutBucketAccelerateConfiguration: bucket('s3:PutAccelerateConfiguration'),
  GetBucketReplication: bucket('s3:GetReplicationConfiguration'),
  PutBucketReplication: bucket('s3:PutReplicationConfiguration'),
  DeleteBucketReplication: bucket('s3:PutReplicationConfiguration'),
  BucketAnalyticsConfiguration: bucket('s3:PutAnalyticsConfiguration'),
  BucketInventoryConfiguration: bucket('s3:PutInventoryConfiguration'),
  BucketMetricsConfiguration: bucket('s3:PutMetricsConfiguration'),
  BucketIntelligentTieringConfiguration: bucket('s3:PutIntelligentTieringConfiguration'),
  CreateSession: bucket('s3:ListBucket'),
};
