import type { ServerResponse } from 'node:http';
import { admitRequest } from '../domain/admission.ts';
import { ANONYMOUS, createCaller, mayDo } from '../domain/caller.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { StoreServices } from '../domain/services.ts';
import { storeErrors } from '../errors.ts';
import { authorize } from './access/authorize.ts';
import { anonymousPayload } from './auth/payload-declaration.ts';
import { authenticate, type Authentication } from './auth/verify.ts';
import { audited } from './audited.ts';
import { isImplemented, type Detected } from './detect.ts';
import { enterBucket } from './enter-bucket.ts';
import type { Operation } from './operation.ts';
import { HEADERS_NOT_IMPLEMENTED } from './operations/absent.ts';
import { auditedChange } from './audited-change.ts';
import type { S3Context, S3Oversight } from './s3-context.ts';
import type { S3Request } from './s3-request.ts';
import { watchBucket } from './watch-bucket.ts';
import { watchKey } from './watch-key.ts';

/** S3's message; the operation name is a separate element. */
const NOT_IMPLEMENTED = 'A header you provided implies functionality that is not implemented.';

/** Authenticates a request, authorizes it, finds its bucket and runs the operation's handler. */
export async function dispatch(
  detected: Detected,
  request: S3Request,
  response: ServerResponse,
  { services, oversight }: { services: StoreServices; oversight: S3Oversight },
): Promise<void> {
  const byForm = 'authentication' in detected && detected.authentication === 'form';
  const authentication = byForm ? null : await authenticateRequest(request, services);
  if (!isImplemented(detected)) {
    if (authentication === null) throw storeErrors.AccessDenied();
    throw storeErrors.NotImplemented({ details: { operation: detected.name, reason: NOT_IMPLEMENTED } });
  }
  assertKnownHeaders(request);
  const caller = authentication === null ? ANONYMOUS : createCaller(authentication.credential);
  if (caller.workspaceUuid !== null) await admitRequest(services, caller.workspaceUuid);
  if (authentication !== null) await oversight.audit.noteFirstUse(authentication.credential.key, caller, request);
  const { name, needs } = detected;
  const change = auditedChange(name, needs, request);
  await audited(change, { request, response, caller, oversight, bucket: null }, async (found) => {
    const context: S3Context = {
      request,
      response,
      caller,
      payload: authentication?.payload ?? anonymousPayload(request),
      seed: authentication?.seed ?? null,
      services,
      oversight,
    };
    const { run, watch } = await prepare(detected, context, found);
    const endStranger = watch();
    const endWatch = watchKey(
      { request, response, caller, needs },
      { rights: oversight.rights, credentials: services.credentials },
    );
    try {
      await run();
    } finally {
      endWatch();
      endStranger();
    }
  });
}

/** Null for an unsigned request, which can access public content only. */
function authenticateRequest(request: S3Request, { deps, credentials }: StoreServices): Promise<Authentication | null> {
  return authenticate(request, {
    credentials,
    clock: deps.clock,
    regions: deps.config.regions,
    maxPresignSeconds: deps.config.limits.presign_seconds,
  });
}

interface Prepared {
  run(this: void): Promise<void>;
  /** Watches what the bucket allows to strangers. Returns the end of the watch. */
  watch(this: void): () => void;
}

const watchNothing = () => () => undefined;

/** Authorizes before the body is read. Throws `AccessDenied`, `NoSuchBucket`, or the error for a missing object. */
async function prepare(
  operation: Operation,
  context: S3Context,
  found: (bucket: BucketRecord) => void,
): Promise<Prepared> {
  if (operation.on === 'service') {
    const decides = operation.authentication !== 'form';
    if (decides && !mayDo(context.caller, operation.needs, null)) throw storeErrors.AccessDenied();
    return { run: () => operation.handle(context), watch: watchNothing };
  }
  const { request, services, caller } = context;
  const bucket = await services.buckets.get(request.bucketName ?? '');
  await enterBucket(context, bucket);
  const input = { request, services, caller, bucket, operation } as const;
  const access = await authorize(input);
  found(bucket);
  const watch = (): (() => void) => watchBucket({ request, response: context.response, input });
  const { key } = request;
  if (operation.on === 'bucket') return { run: () => operation.handle({ ...context, bucket, access }), watch };
  if (key === null) throw storeErrors.InvalidURI();
  return { run: () => operation.handle({ ...context, bucket, access, key }), watch };
}

function assertKnownHeaders(request: S3Request): void {
  for (const name of HEADERS_NOT_IMPLEMENTED) {
    if (request.headers.has(name)) throw storeErrors.NotImplemented({ details: { operation: name } });
  }
}
