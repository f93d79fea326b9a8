import { deleteBucketCors, getBucketCors, putBucketCors } from './handlers/bucket-cors.ts';
import {
  getBucketAccelerateConfiguration,
  getBucketLogging,
  getBucketRequestPayment,
  putBucketAccelerateConfiguration,
  putBucketLogging,
  putBucketRequestPayment,
} from './handlers/bucket-properties.ts';
import type { NeededPermission } from '../domain/caller.ts';
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
import type { ImplementedOperation } from './operation-names.ts';
import type { S3Handler } from './s3-context.ts';

export interface Operation {
  needs: NeededPermission;
  handle: S3Handler;
}

/** The one table of the S3 plane: what each operation needs of a key, and who does it. */
export const operations: Readonly<Record<ImplementedOperation, Operation>> = {
  ListBuckets: { needs: 'any', handle: listBuckets },
  CreateBucket: { needs: 'create-bucket', handle: createBucket },
  HeadBucket: { needs: 'read', handle: headBucket },
  DeleteBucket: { needs: 'delete-bucket', handle: deleteBucket },
  GetBucketLocation: { needs: 'read', handle: getBucketLocation },
  ListObjects: { needs: 'read', handle: listObjects },
  ListObjectsV2: { needs: 'read', handle: listObjectsV2 },
  ListObjectVersions: { needs: 'read', handle: listObjectVersions },
  GetBucketVersioning: { needs: 'read', handle: getBucketVersioning },
  PutBucketVersioning: { needs: 'configure', handle: putBucketVersioning },
  ListMultipartUploads: { needs: 'read', handle: listMultipartUploads },
  DeleteObjects: { needs: 'write', handle: deleteObjects },
  PutObject: { needs: 'write', handle: putObject },
  GetObject: { needs: 'read', handle: getObject },
  HeadObject: { needs: 'read', handle: headObject },
  DeleteObject: { needs: 'write', handle: deleteObject },
  CreateMultipartUpload: { needs: 'write', handle: createMultipartUpload },
  UploadPart: { needs: 'write', handle: uploadPart },
  CompleteMultipartUpload: { needs: 'write', handle: completeMultipartUpload },
  AbortMultipartUpload: { needs: 'write', handle: abortMultipartUpload },
  GetBucketEncryption: { needs: 'read', handle: getBucketEncryption },
  PutBucketEncryption: { needs: 'configure', handle: putBucketEncryption },
  DeleteBucketEncryption: { needs: 'configure', handle: deleteBucketEncryption },
  GetObjectLockConfiguration: { needs: 'read', handle: getObjectLockConfiguration },
  PutObjectLockConfiguration: { needs: 'configure', handle: putObjectLockConfiguration },
  GetObjectRetention: { needs: 'read', handle: getObjectRetention },
  PutObjectRetention: { needs: 'write', handle: putObjectRetention },
  GetObjectLegalHold: { needs: 'read', handle: getObjectLegalHold },
  PutObjectLegalHold: { needs: 'write', handle: putObjectLegalHold },
  GetBucketCors: { needs: 'read', handle: getBucketCors },
  PutBucketCors: { needs: 'configure', handle: putBucketCors },
  DeleteBucketCors: { needs: 'configure', handle: deleteBucketCors },
  GetBucketRequestPayment: { needs: 'read', handle: getBucketRequestPayment },
  PutBucketRequestPayment: { needs: 'configure', handle: putBucketRequestPayment },
  GetBucketAccelerateConfiguration: { needs: 'read', handle: getBucketAccelerateConfiguration },
  PutBucketAccelerateConfiguration: { needs: 'configure', handle: putBucketAccelerateConfiguration },
  GetBucketLogging: { needs: 'read', handle: getBucketLogging },
  PutBucketLogging: { needs: 'configure', handle: putBucketLogging },
  ListParts: { needs: 'read', handle: listParts },
  GetObjectAttributes: { needs: 'read', handle: getObjectAttributes },
  GetObjectTagging: { needs: 'read', handle: getObjectTagging },
  PutObjectTagging: { needs: 'write', handle: putObjectTagging },
  DeleteObjectTagging: { needs: 'write', handle: deleteObjectTagging },
  GetBucketLifecycleConfiguration: { needs: 'read', handle: getBucketLifecycle },
  PutBucketLifecycleConfiguration: { needs: 'configure', handle: putBucketLifecycle },
  DeleteBucketLifecycle: { needs: 'configure', handle: deleteBucketLifecycle },
  GetBucketTagging: { needs: 'read', handle: getBucketTagging },
  PutBucketTagging: { needs: 'configure', handle: putBucketTagging },
  DeleteBucketTagging: { needs: 'configure', handle: deleteBucketTagging },
  GetObjectAcl: { needs: 'read', handle: getObjectAcl },
  PutObjectAcl: { needs: 'write', handle: putObjectAcl },
  GetBucketPolicy: { needs: 'read', handle: getBucketPolicy },
  PutBucketPolicy: { needs: 'configure', handle: putBucketPolicy },
  DeleteBucketPolicy: { needs: 'configure', handle: deleteBucketPolicy },
  GetBucketPolicyStatus: { needs: 'read', handle: getBucketPolicyStatus },
  GetBucketAcl: { needs: 'read', handle: getBucketAcl },
  PutBucketAcl: { needs: 'configure', handle: putBucketAcl },
  GetPublicAccessBlock: { needs: 'read', handle: getPublicAccessBlock },
  PutPublicAccessBlock: { needs: 'configure', handle: putPublicAccessBlock },
  DeletePublicAccessBlock: { needs: 'configure', handle: deletePublicAccessBlock },
  GetBucketOwnershipControls: { needs: 'read', handle: getBucketOwnershipControls },
  PutBucketOwnershipControls: { needs: 'configure', handle: putBucketOwnershipControls },
  DeleteBucketOwnershipControls: { needs: 'configure', handle: deleteBucketOwnershipControls },
  CopyObject: { needs: 'write', handle: copyObject },
  UploadPartCopy: { needs: 'write', handle: uploadPartCopy },
  GetBucketNotificationConfiguration: { needs: 'read', handle: getBucketNotification },
  PutBucketNotificationConfiguration: { needs: 'configure', handle: putBucketNotification },
  GetBucketWebsite: { needs: 'read', handle: getBucketWebsite },
  PutBucketWebsite: { needs: 'configure', handle: putBucketWebsite },
  DeleteBucketWebsite: { needs: 'configure', handle: deleteBucketWebsite },
  PostObject: { needs: 'write', handle: postObject },
};
