import type { ServerResponse } from 'node:http';
import { assertAllowed, callerOf, mayDo, type Caller } from '../domain/caller.ts';
import type { StoreServices } from '../domain/services.ts';
import { storeErrors } from '../errors.ts';
import type { BucketRecord } from '../ports/records.ts';
import { authenticate } from './auth/verify.ts';
import { HEADERS_NOT_IMPLEMENTED, isImplemented, type OperationName } from './operation-names.ts';
import { operations, type Operation } from './operations.ts';
import type { S3Request } from './s3-request.ts';

/** From a request to its operation: who calls, what is asked, may they, is the bucket there, then the handler. */
export async function dispatch(
  operationName: OperationName,
  request: S3Request,
  response: ServerResponse,
  services: StoreServices,
): Promise<void> {
  const { parts, credentials } = services;
  const authentication = await authenticate(request, {
    credentials,
    now: parts.now,
    regions: parts.config.regions,
    maxPresignSeconds: parts.config.limits.presign_seconds,
  });
  if (authentication === null) throw storeErrors.AccessDenied();
  if (!isImplemented(operationName)) throw storeErrors.NotImplemented({ details: { operation: operationName } });
  assertKnownHeaders(request);
  const operation = operations[operationName];
  const caller = callerOf(authentication.credential.key);
  const bucket = await findBucket(request, services, caller, operation);
  await operation.handle({
    request,
    response,
    caller,
    payload: authentication.payload,
    seed: authentication.seed,
    services,
    bucket,
  });
}

async function findBucket(
  request: S3Request,
  services: StoreServices,
  caller: Caller,
  operation: Operation,
): Promise<BucketRecord | null> {
  const { bucketName } = request;
  if (bucketName === null || operation.needs === 'create-bucket') {
    if (!mayDo(caller, operation.needs, null)) throw storeErrors.AccessDenied();
    return null;
  }
  const bucket = await services.buckets.get(bucketName);
  assertAllowed(caller, operation.needs, bucket);
  return bucket;
}

function assertKnownHeaders(request: S3Request): void {
  for (const name of HEADERS_NOT_IMPLEMENTED) {
    if (request.headers.has(name)) throw storeErrors.NotImplemented({ details: { operation: name } });
  }
  const acl = request.headers.get('x-amz-acl');
  if (request.key !== null && acl !== undefined && acl !== 'private' && acl !== 'bucket-owner-full-control') {
    throw storeErrors.NotImplemented({ details: { operation: `x-amz-acl: ${acl}` } });
  }
}
