import { storeErrors } from '../errors.ts';
import type { OperationName } from './operation-names.ts';
import type { S3Request } from './s3-request.ts';

type ByMethod = Readonly<Partial<Record<string, OperationName>>>;

/** What a sub-resource in the query makes of a request to an object. */
const OBJECT_SUBRESOURCES: Readonly<Record<string, ByMethod>> = {
  acl: { GET: 'GetObjectAcl', PUT: 'PutObjectAcl' },
  attributes: { GET: 'GetObjectAttributes' },
  'legal-hold': { GET: 'GetObjectLegalHold', PUT: 'PutObjectLegalHold' },
  renameObject: { PUT: 'RenameObject' },
  restore: { POST: 'RestoreObject' },
  retention: { GET: 'GetObjectRetention', PUT: 'PutObjectRetention' },
  select: { POST: 'SelectObjectContent' },
  tagging: { GET: 'GetObjectTagging', PUT: 'PutObjectTagging', DELETE: 'DeleteObjectTagging' },
  torrent: { GET: 'GetObjectTorrent' },
  uploads: { POST: 'CreateMultipartUpload' },
};

const BUCKET_SUBRESOURCES: Readonly<Record<string, ByMethod>> = {
  accelerate: { GET: 'GetBucketAccelerateConfiguration', PUT: 'PutBucketAccelerateConfiguration' },
  acl: { GET: 'GetBucketAcl', PUT: 'PutBucketAcl' },
  analytics: sameForAll('BucketAnalyticsConfiguration'),
  cors: { GET: 'GetBucketCors', PUT: 'PutBucketCors', DELETE: 'DeleteBucketCors' },
  delete: { POST: 'DeleteObjects' },
  encryption: { GET: 'GetBucketEncryption', PUT: 'PutBucketEncryption', DELETE: 'DeleteBucketEncryption' },
  'intelligent-tiering': sameForAll('BucketIntelligentTieringConfiguration'),
  inventory: sameForAll('BucketInventoryConfiguration'),
  lifecycle: {
    GET: 'GetBucketLifecycleConfiguration',
    PUT: 'PutBucketLifecycleConfiguration',
    DELETE: 'DeleteBucketLifecycle',
  },
  location: { GET: 'GetBucketLocation' },
  logging: { GET: 'GetBucketLogging', PUT: 'PutBucketLogging' },
  metrics: sameForAll('BucketMetricsConfiguration'),
  notification: { GET: 'GetBucketNotificationConfiguration', PUT: 'PutBucketNotificationConfiguration' },
  'object-lock': { GET: 'GetObjectLockConfiguration', PUT: 'PutObjectLockConfiguration' },
  ownershipControls: {
    GET: 'GetBucketOwnershipControls',
    PUT: 'PutBucketOwnershipControls',
    DELETE: 'DeleteBucketOwnershipControls',
  },
  policy: { GET: 'GetBucketPolicy', PUT: 'PutBucketPolicy', DELETE: 'DeleteBucketPolicy' },
  policyStatus: { GET: 'GetBucketPolicyStatus' },
  publicAccessBlock: {
    GET: 'GetPublicAccessBlock',
    PUT: 'PutPublicAccessBlock',
    DELETE: 'DeletePublicAccessBlock',
  },
  replication: { GET: 'GetBucketReplication', PUT: 'PutBucketReplication', DELETE: 'DeleteBucketReplication' },
  requestPayment: { GET: 'GetBucketRequestPayment', PUT: 'PutBucketRequestPayment' },
  session: { GET: 'CreateSession' },
  tagging: { GET: 'GetBucketTagging', PUT: 'PutBucketTagging', DELETE: 'DeleteBucketTagging' },
  uploads: { GET: 'ListMultipartUploads' },
  versioning: { GET: 'GetBucketVersioning', PUT: 'PutBucketVersioning' },
  versions: { GET: 'ListObjectVersions' },
  website: { GET: 'GetBucketWebsite', PUT: 'PutBucketWebsite', DELETE: 'DeleteBucketWebsite' },
};

/** A question of a browser about a request that it has not sent; not an operation, and signed by nobody. */
export type Preflight = 'CorsPreflight';

/** Which operation of S3 a request asks for. Throws `MethodNotAllowed` where S3 has none. */
export function detectOperation(request: S3Request): OperationName | Preflight {
  const { method, bucketName, key } = request;
  if (method === 'OPTIONS') return 'CorsPreflight';
  if (bucketName === null) return needed({ GET: 'ListBuckets' }, method, 'SERVICE');
  assertSensible(request);
  if (key === null) return needed(subresource(request, BUCKET_SUBRESOURCES) ?? plainBucket(request), method, 'BUCKET');
  return needed(subresource(request, OBJECT_SUBRESOURCES) ?? plainObject(request), method, 'OBJECT');
}

/** Questions that no operation answers, which S3 says more about than that they are not allowed. */
function assertSensible({ method, key, query, headers }: S3Request): void {
  const copySource = headers.get('x-amz-copy-source');
  if (copySource !== undefined && method !== 'PUT' && (method !== 'POST' || query.has('uploadId'))) {
    throw storeErrors.InvalidArgument({
      details: {
        reason: 'You can only specify a copy source header for copy requests.',
        argumentName: 'x-amz-copy-source',
        argumentValue: copySource.slice(0, 1_024),
      },
    });
  }
  if (key === null) return;
  if (method === 'GET' && query.has('uploads')) {
    throw invalidRequest('Key is not expected for the GET method ?uploads subresource');
  }
  if (method === 'GET' && query.has('versions')) {
    throw invalidRequest('There is no such thing as the ?versions sub-resource for a key');
  }
  if (method !== 'PUT') return;
  if (query.has('partNumber') && !query.has('uploadId')) {
    throw storeErrors.InvalidArgument({
      details: {
        reason: 'This operation does not accept partNumber without uploadId',
        argumentName: 'partNumber',
        argumentValue: 'partNumber',
      },
    });
  }
  if (query.has('uploadId') && !query.has('partNumber')) {
    throw storeErrors.MethodNotAllowed({ details: { method, resourceType: 'UPLOAD' } });
  }
}

function invalidRequest(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

function plainBucket({ query }: S3Request): ByMethod {
  return {
    GET: query.get('list-type') === '2' ? 'ListObjectsV2' : 'ListObjects',
    HEAD: 'HeadBucket',
    PUT: 'CreateBucket',
    DELETE: 'DeleteBucket',
    POST: 'PostObject',
  };
}

function plainObject({ query, headers }: S3Request): ByMethod {
  const copies = headers.has('x-amz-copy-source');
  if (query.has('uploadId')) {
    return {
      GET: 'ListParts',
      PUT: copies ? 'UploadPartCopy' : 'UploadPart',
      POST: 'CompleteMultipartUpload',
      DELETE: 'AbortMultipartUpload',
    };
  }
  return {
    GET: 'GetObject',
    HEAD: 'HeadObject',
    PUT: copies ? 'CopyObject' : 'PutObject',
    DELETE: 'DeleteObject',
  };
}

function subresource({ query }: S3Request, known: Readonly<Record<string, ByMethod>>): ByMethod | null {
  for (const { name } of query.parameters) {
    if (Object.hasOwn(known, name)) return known[name] ?? null;
  }
  return null;
}

function needed(operations: ByMethod, method: string, resourceType: string): OperationName {
  const operation = operations[method];
  if (operation === undefined) throw storeErrors.MethodNotAllowed({ details: { method, resourceType } });
  return operation;
}

function sameForAll(operation: OperationName): ByMethod {
  return { GET: operation, PUT: operation, DELETE: operation };
}
