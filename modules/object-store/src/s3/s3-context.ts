import type { ServerResponse } from 'node:http';
import type { HeldRights } from '@svc/access';
import type { SignatureSeed } from '@svc/s3-sign';
import type { Caller } from '../domain/caller.ts';
import type { StoreServices } from '../domain/services.ts';
import type { EventOrigin } from '../domain/ports/notifications.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { RequestAccess } from './access/authorize.ts';
import type { ContentSource } from '../domain/content/content-source.ts';
import type { PayloadDeclaration } from './auth/payload-declaration.ts';
import type { S3Audit } from './s3-audit.ts';
import type { S3Request } from './s3-request.ts';

/** Oversight of running requests: auditing and revocation. */
export interface S3Oversight {
  audit: S3Audit;
  rights: HeldRights;
}

/** Context of an operation on the service: an authenticated request. */
export interface S3Context {
  readonly request: S3Request;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly payload: PayloadDeclaration;
  readonly seed: SignatureSeed | null;
  readonly services: StoreServices;
  readonly oversight: S3Oversight;
  /** Source of the content if it is not the whole body, such as the file of a form. */
  readonly body?: ContentSource['pump'];
}

/** Context of an operation on a bucket: the request was allowed. */
export interface BucketContext extends S3Context {
  readonly bucket: BucketRecord;
  /** The authorization outcome, for further checks. */
  readonly access: RequestAccess;
}

/** Context of an operation on an object. */
export interface ObjectContext extends BucketContext {
  readonly key: string;
}

/** The origin of an event, for notifications. */
export function originOf({ caller, request }: S3Context): EventOrigin {
  return {
    principal: caller.accessKeyId ?? 'anonymous',
    requestId: request.requestId,
    sourceAddress: request.remoteAddress,
  };
}
