import type { ServerResponse } from 'node:http';
import type { HeldRights } from '@svc/http';
import type { Caller } from '../domain/caller.ts';
import type { StoreServices } from '../domain/services.ts';
import type { EventOrigin } from '../domain/ports/notifications.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
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

/** What an operation on the service is given: an authenticated request. */
export interface S3Context {
  readonly request: S3Request;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly payload: PayloadDeclaration;
  readonly seed: SignatureSeed | null;
  readonly services: StoreServices;
  readonly oversight: S3Oversight;
  /** Where the content comes from when it is not the whole body, such as the file of a form. */
  readonly body?: (consume: ChunkConsumer) => Promise<void>;
}

/** What an operation on a bucket is given: the request was allowed. */
export interface BucketContext extends S3Context {
  readonly bucket: BucketRecord;
  /** What was decided about the request, and how to ask further. */
  readonly access: RequestAccess;
}

/** What an operation on an object is given. */
export interface ObjectContext extends BucketContext {
  readonly key: string;
}

/** Who asked, for notifications. */
export function originOf({ caller, request }: S3Context): EventOrigin {
  return {
    principal: caller.accessKeyId ?? 'anonymous',
    requestId: request.requestId,
    sourceAddress: request.remoteAddress,
  };
}
