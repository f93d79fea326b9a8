import type { ServerResponse } from 'node:http';
import { tooMuchTraffic } from '../domain/admission.ts';
import { ANONYMOUS, callerOf, mayDo, type Caller } from '../domain/caller.ts';
import type { StoreServices } from '../domain/services.ts';
import { countTraffic } from '../domain/usage/count-traffic.ts';
import { storeErrors } from '../errors.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import { authorize, denied, type RequestAccess } from './access/authorize.ts';
import { operationActions } from './access/operation-actions.ts';
import { isExpectedOwner } from './access/request-conditions.ts';
import { anonymousPayload } from './auth/payload-declaration.ts';
import { audited } from './audited.ts';
import { authenticate, type Authentication } from './auth/verify.ts';
import {
  HEADERS_NOT_IMPLEMENTED,
  isImplemented,
  type ImplementedOperation,
  type OperationName,
} from './operation-names.ts';
import { operations } from './operations.ts';
import { auditedChange } from './s3-audit.ts';
import type { S3Oversight } from './s3-context.ts';
import type { S3Request } from './s3-request.ts';
import { watchKey } from './watch-key.ts';

/** S3's sentence; the name of the operation stands beside it. */
const NOT_IMPLEMENTED = 'A header you provided implies functionality that is not implemented.';

/** From a request to its operation: who calls, what is asked, is the bucket there, may they, then the handler. */
export async function dispatch(
  operationName: OperationName,
  request: S3Request,
  response: ServerResponse,
  { services, oversight }: { services: StoreServices; oversight: S3Oversight },
): Promise<void> {
  // A form says who sent it in its fields, which only its handler reads.
  const authentication = operationName === 'PostObject' ? null : await whoSigned(request, services);
  if (!isImplemented(operationName)) {
    if (authentication === null) throw storeErrors.AccessDenied();
    throw storeErrors.NotImplemented({ details: { operation: operationName, reason: NOT_IMPLEMENTED } });
  }
  assertKnownHeaders(request);
  const caller = authentication === null ? ANONYMOUS : callerOf(authentication.credential);
  if (caller.workspaceUuid !== null) await admit(services, caller.workspaceUuid, false);
  if (authentication !== null) await oversight.audit.noteFirstUse(authentication.credential.key, caller, request);
  const { needs, handle } = operations[operationName];
  const change = auditedChange(operationName, needs, request);
  await audited(change, { request, response, caller, oversight }, async () => {
    const { bucket, access } = await findBucket(request, response, services, caller, operationName);
    const { rights } = oversight;
    const endWatch = watchKey({ request, response, caller, needs }, { rights, credentials: services.credentials });
    try {
      await handle({
        request,
        response,
        caller,
        payload: authentication?.payload ?? anonymousPayload(request),
        seed: authentication?.seed ?? null,
        services,
        oversight,
        bucket,
        access,
      });
    } finally {
      endWatch();
    }
  });
}

/** Null for a request without any signature: then only what is public is left. */
function whoSigned(request: S3Request, { parts, credentials }: StoreServices): Promise<Authentication | null> {
  return authenticate(request, {
    credentials,
    now: parts.now,
    regions: parts.config.regions,
    maxPresignSeconds: parts.config.limits.presign_seconds,
  });
}

async function findBucket(
  request: S3Request,
  response: ServerResponse,
  services: StoreServices,
  caller: Caller,
  operationName: ImplementedOperation,
): Promise<{ bucket: BucketRecord | null; access: RequestAccess | null }> {
  const { bucketName } = request;
  const { needs } = operations[operationName];
  const action = operationActions[operationName];
  if (bucketName === null || action.on === 'service') {
    if (!mayDo(caller, needs, null)) throw storeErrors.AccessDenied();
    return { bucket: null, access: null };
  }
  // A form is refused for its signature first, as every other request is: its handler says that the bucket is not there.
  const isForm = operationName === 'PostObject';
  const bucket = isForm
    ? await services.parts.metadata.findBucket({ name: bucketName })
    : await services.buckets.get(bucketName);
  if (bucket === null) return { bucket: null, access: null };
  if (caller.workspaceUuid === null) await admit(services, bucket.workspaceUuid, true);
  countTraffic(services.traffic, bucket, request.incoming, response);
  if (!isExpectedOwner(request.headers.get('x-amz-expected-bucket-owner'), bucket)) throw denied(bucket);
  return { bucket, access: await authorize({ request, services, caller, bucket, action, needs }) };
}

/** Throws `SlowDown` when the workspace asks for more than it may. */
async function admit({ parts }: StoreServices, workspaceUuid: string, isPublic: boolean): Promise<void> {
  const refusal = await parts.workspaceTraffic.admit(workspaceUuid, isPublic);
  if (refusal !== null) throw tooMuchTraffic(refusal);
}

function assertKnownHeaders(request: S3Request): void {
  for (const name of HEADERS_NOT_IMPLEMENTED) {
    if (request.headers.has(name)) throw storeErrors.NotImplemented({ details: { operation: name } });
  }
}
