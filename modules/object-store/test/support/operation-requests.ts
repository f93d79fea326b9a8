import type { OperationName } from '../../src/s3/operations/index.ts';
import type { RawRequest } from './raw-request.ts';

const BUCKET = '/alpha';
const OBJECT = '/alpha/object';
const UPLOAD = 'uploadId=none';

const get = (target: string): RawRequest => ({ target });
const put = (target: string, headers: Record<string, string> = {}): RawRequest => ({ method: 'PUT', target, headers });
const post = (target: string): RawRequest => ({ method: 'POST', target });
const remove = (target: string): RawRequest => ({ method: 'DELETE', target });
const head = (target: string): RawRequest => ({ method: 'HEAD', target });
const COPY = { 'x-amz-copy-source': '/alpha/object' };

/** The minimal request for each operation, on the bucket `alpha` and its `object`. */
export const operationRequests: Readonly<Partial<Record<OperationName, RawRequest>>> = {
  ListBuckets: get('/'),
  CreateBucket: put('/gamma'),
  HeadBucket: head(BUCKET),
  DeleteBucket: remove(BUCKET),
  GetBucketLocation: get(`${BUCKET}?location`),
  ListObjects: get(BUCKET),
  ListObjectsV2: get(`${BUCKET}?list-type=2`),
  ListObjectVersions: get(`${BUCKET}?versions`),
  ListMultipartUploads: get(`${BUCKET}?uploads`),
  GetBucketVersioning: get(`${BUCKET}?versioning`),
  PutBucketVersioning: put(`${BUCKET}?versioning`),
  DeleteObjects: post(`${BUCKET}?delete`),
  PutObject: put(OBJECT),
  GetObject: get(OBJECT),
  HeadObject: head(OBJECT),
  DeleteObject: remove(OBJECT),
  CopyObject: put(OBJECT, COPY),
  GetObjectAttributes: get(`${OBJECT}?attributes`),
  CreateMultipartUpload: post(`${OBJECT}?uploads`),
  UploadPart: put(`${OBJECT}?partNumber=1&${UPLOAD}`),
  UploadPartCopy: put(`${OBJECT}?partNumber=1&${UPLOAD}`, COPY),
  CompleteMultipartUpload: post(`${OBJECT}?${UPLOAD}`),
  AbortMultipartUpload: remove(`${OBJECT}?${UPLOAD}`),
  ListParts: get(`${OBJECT}?${UPLOAD}`),
  GetObjectTagging: get(`${OBJECT}?tagging`),
  PutObjectTagging: put(`${OBJECT}?tagging`),
  DeleteObjectTagging: remove(`${OBJECT}?tagging`),
  GetObjectAcl: get(`${OBJECT}?acl`),
  PutObjectAcl: put(`${OBJECT}?acl`),
  GetObjectRetention: get(`${OBJECT}?retention`),
  PutObjectRetention: put(`${OBJECT}?retention`),
  GetObjectLegalHold: get(`${OBJECT}?legal-hold`),
  PutObjectLegalHold: put(`${OBJECT}?legal-hold`),
  GetBucketTagging: get(`${BUCKET}?tagging`),
  PutBucketTagging: put(`${BUCKET}?tagging`),
  DeleteBucketTagging: remove(`${BUCKET}?tagging`),
  GetBucketCors: get(`${BUCKET}?cors`),
  PutBucketCors: put(`${BUCKET}?cors`),
  DeleteBucketCors: remove(`${BUCKET}?cors`),
  GetBucketEncryption: get(`${BUCKET}?encryption`),
  PutBucketEncryption: put(`${BUCKET}?encryption`),
  DeleteBucketEncryption: remove(`${BUCKET}?encryption`),
  GetBucketLifecycleConfiguration: get(`${BUCKET}?lifecycle`),
  PutBucketLifecycleConfiguration: put(`${BUCKET}?lifecycle`),
  DeleteBucketLifecycle: remove(`${BUCKET}?lifecycle`),
  GetBucketWebsite: get(`${BUCKET}?website`),
  PutBucketWebsite: put(`${BUCKET}?website`),
  DeleteBucketWebsite: remove(`${BUCKET}?website`),
  GetObjectLockConfiguration: get(`${BUCKET}?object-lock`),
  PutObjectLockConfiguration: put(`${BUCKET}?object-lock`),
  GetBucketNotificationConfiguration: get(`${BUCKET}?notification`),
  PutBucketNotificationConfiguration: put(`${BUCKET}?notification`),
  GetBucketLogging: get(`${BUCKET}?logging`),
  PutBucketLogging: put(`${BUCKET}?logging`),
  GetBucketRequestPayment: get(`${BUCKET}?requestPayment`),
  PutBucketRequestPayment: put(`${BUCKET}?requestPayment`),
  GetBucketAccelerateConfiguration: get(`${BUCKET}?accelerate`),
  PutBucketAccelerateConfiguration: put(`${BUCKET}?accelerate`),
  GetBucketPolicy: get(`${BUCKET}?policy`),
  PutBucketPolicy: put(`${BUCKET}?policy`),
  DeleteBucketPolicy: remove(`${BUCKET}?policy`),
  GetBucketPolicyStatus: get(`${BUCKET}?policyStatus`),
  GetBucketAcl: get(`${BUCKET}?acl`),
  PutBucketAcl: put(`${BUCKET}?acl`),
  GetPublicAccessBlock: get(`${BUCKET}?publicAccessBlock`),
  PutPublicAccessBlock: put(`${BUCKET}?publicAccessBlock`),
  DeletePublicAccessBlock: remove(`${BUCKET}?publicAccessBlock`),
  GetBucketOwnershipControls: get(`${BUCKET}?ownershipControls`),
  PutBucketOwnershipControls: put(`${BUCKET}?ownershipControls`),
  DeleteBucketOwnershipControls: remove(`${BUCKET}?ownershipControls`),
};
