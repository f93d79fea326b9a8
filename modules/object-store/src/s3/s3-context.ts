import type { ServerResponse } from 'node:http';
import type { HeldRights } from '@svc/http';
import type { Caller } from '../domain/caller.ts';
import type { StoreServices } from '../domain/services.ts';
import type { EventOrigin } from '../domain/ports/notifications.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import { storeErrors } from '../errors.ts';
import type { RequestAccess } from './access/authorize.ts';
import type { ChunkConsumer } from './body/pump-body.ts';
import type { PayloadDeclaration } from './auth/payload-declaration.ts';
import type { SignatureSeed } from './auth/verify.ts';
import type { S3Audit } from './s3-audit.ts';
import type { S3Request } from './s3-request.ts';

/** What watches over requests while they run. */
export interface S3Oversight {
  audit: S3Audit;
  rights: HeldRights;
}

/** What an operation is given: a request that was authenticated and allowed. */
export interface S3Context {
  readonly request: S3Request;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly payload: PayloadDeclaration;
  readonly seed: SignatureSeed | null;
  readonly services: StoreServices;
  readonly oversight: S3Oversight;
  /** Null for operations on the service, and for creating a bucket. */
  readonly bucket: BucketRecord | null;
  /** What was decided about the request, and how to ask further; null where the bucket is. */
  readonly access: RequestAccess | null;
  /** Where the content comes from when it is not the whole body, such as the file of a form. */
  readonly body?: (consume: ChunkConsumer) => Promise<void>;
}

/** The bucket of an operation that has one by its place in the table. */
export function bucketOf(context: S3Context): BucketRecord {
  if (context.bucket === null) throw storeErrors.NoSuchBucket();
  return context.bucket;
}

export function accessOf(context: S3Context): RequestAccess {
  if (context.access === null) throw storeErrors.NoSuchBucket();
  return context.access;
}

/** Who asked, for notifications. */
export function originOf({ caller, request }: S3Context): EventOrigin {
  return {
    principal: caller.accessKeyId ?? 'anonymous',
    requestId: request.requestId,
    sourceAddress: request.remoteAddress,
  };
}

export function keyOf(context: S3Context): string {
  if (context.request.key === null) throw storeErrors.InvalidURI();
  return context.request.key;
}

export type S3Handler = (context: S3Context) => Promise<void>;
