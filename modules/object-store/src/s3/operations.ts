import { deleteBucketCors, getBucketCors, putBucketCors } from './handlers/bucket-cors.ts';
import {
  getBucketAccelerateConfiguration,
  getBucketLogging,
  getBucketRequestPayment,
  putBucketAccelerateConfiguration,
  putBucketLogging,
  putBucketRequestPayment,
} from './handlers/bucket-properties.ts';
import { getBucketVersioning, putBucketVersioning } from './handlers/bucket-versioning.ts';
import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from './handlers/acl.ts';
import {
  deleteBucketPolicy,
  getBucketPolicy,
  getBucketPolicyStatus,
  putBucketPolicy,
} from './handlers/bucket-policy.ts';
import { getBucketNotification, putBucketNotification } from './handlers/bucket-notification.ts';
import { deleteBucketWebsite, getBucketWebsite, putBucketWebsite } from './handlers/bucket-website.ts';
import { createBucket, deleteBucket, getBucketLocation, headBucket, listBuckets } from './handlers/buckets.ts';
import { deleteBucketEncryption, getBucketEncryption, putBucketEncryption } from './handlers/bucket-encryption.ts';
import { deleteObject, deleteObjects } from './handlers/delete-object.ts';
import { getObject, headObject } from './handlers/get-object.ts';
import { listObjects, listObjectsV2 } from './handlers/listings.ts';
import { abortMultipartUpload, createMultipartUpload, uploadPart } from './handlers/multipart.ts';
import { listMultipartUploads, listParts } from './handlers/multipart-listings.ts';
import {
  deleteBucketOwnershipControls,
  getBucketOwnershipControls,
  putBucketOwnershipControls,
} from './handlers/ownership-controls.ts';
import { deletePublicAccessBlock, getPublicAccessBlock, putPublicAccessBlock } from './handlers/public-access-block.ts';
import {
  getObjectLegalHold,
  getObjectLockConfiguration,
  getObjectRetention,
  putObjectLegalHold,
  putObjectLockConfiguration,
  putObjectRetention,
} from './handlers/object-lock.ts';
import { postObject } from './handlers/post-object.ts';
import { putObject } from './handlers/put-object.ts';
import { listObjectVersions } from './handlers/versions.ts';
import {
  deleteBucketTagging,
  deleteObjectTagging,
  getBucketTagging,
  getObjectTagging,
  putBucketTagging,
  putObjectTagging,
} from './handlers/tagging.ts';
import { completeMultipartUpload } from './handlers/complete-upload.ts';
import { copyObject } from './handlers/copy-object.ts';
import { getObjectAttributes } from './handlers/object-attributes.ts';
import { uploadPartCopy } from './handlers/upload-part-copy.ts';
import { deleteBucketLifecycle, getBucketLifecycle, putBucketLifecycle } from './handlers/lifecycle.ts';
import type { StoreAction } from '../domain/ports/maker-rights.ts';
import type { ImplementedOperation } from './operation-names.ts';
import type { S3Handler } from './s3-context.ts';

export interface Operation {
  /** The action of the authorize table that the key, and its maker, must be allowed. */
  needs: StoreAction;
  handle: S3Handler;
}

/** The one table of the S3 plane: which right each operation needs, and what handles it. */
export const operations: Readonly<Record<ImplementedOperation, Operation>> = {
  ListBuckets: { needs: 'bucket:list', handle: listBuckets },
  CreateBucket: { needs: 'bucket:create', handle: createBucket },
  HeadBucket: { needs: 'bucket:read', handle: headBucket },
  DeleteBucket: { needs: 'bucket:delete', handle: deleteBucket },
  GetBucketLocation: { needs: 'bucket:read', handle: getBucketLocation },
  ListObjects: { needs: 'object:list', handle: listObjects },
  ListObjectsV2: { needs: 'object:list', handle: listObjectsV2 },
  ListObjectVersions: { needs: 'object:list', handle: listObjectVersions },
  GetBucketVersioning: { needs: 'bucket:read', handle: getBucketVersioning },
  PutBucketVersioning: { needs: 'bucket:update', handle: putBucketVersioning },
  ListMultipartUploads: { needs: 'object:list', handle: listMultipartUploads },
  DeleteObjects: { needs: 'object:delete', handle: deleteObjects },
  PutObject: { needs: 'object:write', handle: putObject },
  GetObject: { needs: 'object:read', handle: getObject },
  HeadObject: { needs: 'object:read', handle: headObject },
  DeleteObject: { needs: 'object:delete', handle: deleteObject },
  CreateMultipartUpload: { needs: 'object:write', handle: createMultipartUpload },
  UploadPart: { needs: 'object:write', handle: uploadPart },
  CompleteMultipartUpload: { needs: 'object:write', handle: completeMultipartUpload },
  AbortMultipartUpload: { needs: 'object:write', handle: abortMultipartUpload },
  GetBucketEncryption: { needs: 'bucket:read', handle: getBucketEncryption },
  PutBucketEncryption: { needs: 'bucket:update', handle: putBucketEncryption },
  DeleteBucketEncryption: { needs: 'bucket:update', handle: deleteBucketEncryption },
  GetObjectLockConfiguration: { needs: 'bucket:read', handle: getObjectLockConfiguration },
  PutObjectLockConfiguration: { needs: 'bucket:update', handle: putObjectLockConfiguration },
  GetObjectRetention: { needs: 'object:read', handle: getObjectRetention },
  PutObjectRetention: { needs: 'bucket:update', handle: putObjectRetention },
  GetObjectLegalHold: { needs: 'object:read', handle: getObjectLegalHold },
  PutObjectLegalHold: { needs: 'bucket:update', handle: putObjectLegalHold },
  GetBucketCors: { needs: 'bucket:read', handle: getBucketCors },
  PutBucketCors: { needs: 'bucket:update', handle: putBucketCors },
  DeleteBucketCors: { needs: 'bucket:update', handle: deleteBucketCors },
  GetBucketRequestPayment: { needs: 'bucket:read', handle: getBucketRequestPayment },
  PutBucketRequestPayment: { needs: 'bucket:update', handle: putBucketRequestPayment },
  GetBucketAccelerateConfiguration: { needs: 'bucket:read', handle: getBucketAccelerateConfiguration },
  PutBucketAccelerateConfiguration: { needs: 'bucket:update', handle: putBucketAccelerateConfiguration },
  GetBucketLogging: { needs: 'bucket:read', handle: getBucketLogging },
  PutBucketLogging: { needs: 'bucket:update', handle: putBucketLogging },
  ListParts: { needs: 'object:list', handle: listParts },
  GetObjectAttributes: { needs: 'object:read', handle: getObjectAttributes },
  GetObjectTagging: { needs: 'object:read', handle: getObjectTagging },
  PutObjectTagging: { needs: 'object:write', handle: putObjectTagging },
  DeleteObjectTagging: { needs: 'object:write', handle: deleteObjectTagging },
  GetBucketLifecycleConfiguration: { needs: 'bucket:read', handle: getBucketLifecycle },
  PutBucketLifecycleConfiguration: { needs: 'bucket:update', handle: putBucketLifecycle },
  DeleteBucketLifecycle: { needs: 'bucket:update', handle: deleteBucketLifecycle },
  GetBucketTagging: { needs: 'bucket:read', handle: getBucketTagging },
  PutBucketTagging: { needs: 'bucket:update', handle: putBucketTagging },
  DeleteBucketTagging: { needs: 'bucket:update', handle: deleteBucketTagging },
  GetObjectAcl: { needs: 'object:read', handle: getObjectAcl },
  PutObjectAcl: { needs: 'bucket:update', handle: putObjectAcl },
  GetBucketPolicy: { needs: 'bucket:read', handle: getBucketPolicy },
  PutBucketPolicy: { needs: 'bucket:update', handle: putBucketPolicy },
  DeleteBucketPolicy: { needs: 'bucket:update', handle: deleteBucketPolicy },
  GetBucketPolicyStatus: { needs: 'bucket:read', handle: getBucketPolicyStatus },
  GetBucketAcl: { needs: 'bucket:read', handle: getBucketAcl },
  PutBucketAcl: { needs: 'bucket:update', handle: putBucketAcl },
  GetPublicAccessBlock: { needs: 'bucket:read', handle: getPublicAccessBlock },
  PutPublicAccessBlock: { needs: 'bucket:update', handle: putPublicAccessBlock },
  DeletePublicAccessBlock: { needs: 'bucket:update', handle: deletePublicAccessBlock },
  GetBucketOwnershipControls: { needs: 'bucket:read', handle: getBucketOwnershipControls },
  PutBucketOwnershipControls: { needs: 'bucket:update', handle: putBucketOwnershipControls },
  DeleteBucketOwnershipControls: { needs: 'bucket:update', handle: deleteBucketOwnershipControls },
  CopyObject: { needs: 'object:write', handle: copyObject },
  UploadPartCopy: { needs: 'object:write', handle: uploadPartCopy },
  GetBucketNotificationConfiguration: { needs: 'bucket:read', handle: getBucketNotification },
  PutBucketNotificationConfiguration: { needs: 'bucket:update', handle: putBucketNotification },
  GetBucketWebsite: { needs: 'bucket:read', handle: getBucketWebsite },
  PutBucketWebsite: { needs: 'bucket:update', handle: putBucketWebsite },
  DeleteBucketWebsite: { needs: 'bucket:update', handle: deleteBucketWebsite },
  PostObject: { needs: 'object:write', handle: postObject },
};
