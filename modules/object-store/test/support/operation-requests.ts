import type { Operation } from '../../src/s3/operation.ts';
import { operations, type ImplementedOperation } from '../../src/s3/operations/index.ts';
import type { RawRequest } from './raw-request.ts';

const BUCKET = '/alpha';
const OBJECT = '/alpha/object';
const UPLOAD = `${OBJECT}?uploadId=none`;
const PART = `${OBJECT}?partNumber=1&uploadId=none`;
const COPY = { 'x-amz-copy-source': OBJECT };

/** Operations that need more than their method, target and subresource. */
const EXCEPTIONS: Readonly<Partial<Record<ImplementedOperation, RawRequest>>> = {
  CreateBucket: { method: 'PUT', target: '/gamma' },
  ListObjectsV2: { target: `${BUCKET}?list-type=2` },
  CopyObject: { method: 'PUT', target: OBJECT, headers: COPY },
  UploadPart: { method: 'PUT', target: PART },
  UploadPartCopy: { method: 'PUT', target: PART, headers: COPY },
  CompleteMultipartUpload: { method: 'POST', target: UPLOAD },
  AbortMultipartUpload: { method: 'DELETE', target: UPLOAD },
  ListParts: { target: UPLOAD },
};

/**
 * The minimal request for each operation, on the bucket `alpha` and its `object`. Without `PostObject`, whose form
 * carries its own credentials.
 */
export const operationRequests: ReadonlyMap<ImplementedOperation, RawRequest> = new Map(
  operations
    .filter(({ name }) => name !== 'PostObject')
    .map((operation) => [operation.name, EXCEPTIONS[operation.name] ?? declaredRequest(operation)]),
);

function declaredRequest({ on, at, method, subresource }: Operation): RawRequest {
  const path = { service: '/', bucket: BUCKET, object: OBJECT }[at ?? on];
  const target = subresource === undefined ? path : `${path}?${subresource}`;
  return { target, method: typeof method === 'string' ? method : (method[0] ?? 'GET') };
}
