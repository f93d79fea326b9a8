import { isAppError } from '@svc/errors';
import { parseAcl } from '../../domain/access/access-control-list.ts';
import { readBucketAccess, type BucketAccess } from '../../domain/access/bucket-access.ts';
import { isAllowed, isDenied, type AccessQuestion } from '../../domain/access/decide.ts';
import type { PolicyAction } from '../../domain/access/policy/known-actions.ts';
import { withObjectTags } from '../../domain/access/public-read.ts';
import { mayDo, type Caller } from '../../domain/caller.ts';
import type { StoreServices } from '../../domain/services.ts';
import { storeErrors } from '../../errors.ts';
import type { StoreAction } from '../../domain/ports/maker-rights.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { BucketRecord, ObjectVersion } from '../../domain/ports/records.ts';
import type { S3Request } from '../s3-request.ts';
import { createConditionValues, type RequestFacts } from './request-conditions.ts';
import type { OperationRule } from './rules.ts';

/** The outcome of authorizing a request, with what further checks need. */
export interface RequestAccess {
  readonly rules: BucketAccess;
  readonly operation: OperationRule;
  readonly facts: RequestFacts;
  /** The object that the decision read, so that the handler need not read it again. */
  readonly loaded: FoundObject | null;
}

export interface AuthorizeInput {
  request: S3Request;
  services: StoreServices;
  caller: Caller;
  bucket: BucketRecord;
  operation: OperationRule;
  /** Defaults to what the request implies. */
  authType?: RequestFacts['authType'];
}

/** Authorizes a request before its body is read. Throws `AccessDenied`, or the error for a missing object. */
export async function authorize(input: AuthorizeInput): Promise<RequestAccess> {
  const { request, services, caller, bucket, operation } = input;
  const access: RequestAccess = {
    rules: readBucketAccess(bucket, await services.configurations.of(bucket)),
    operation,
    facts: readRequestFacts(input),
    loaded: null,
  };
  if (!mayDo(caller, operation.needs, bucket.name)) throw denied(bucket);
  // Reject anonymous bulk deletes before reading the body, unless the bucket has a configuration that may allow them.
  if (operation.asks === 'each' && caller.workspaceUuid === null && bucket.configurationVersion === 0)
    throw denied(bucket);
  if (operation.asks === 'each' || operation.byHandler === true) return access;
  if (operation.asks !== 'object') {
    const question = questionAbout(access, { key: request.key, byVersion: request.query.has('versionId') });
    if (!isAllowed(question) || isImpliedActionDenied(access, question)) throw denied(bucket);
    return access;
  }
  const isUntouched = bucket.configurationVersion === 0 && bucket.workspaceUuid === caller.workspaceUuid;
  return isUntouched ? access : { ...access, loaded: await findAllowed(services, access, readName(request)) };
}

/**
 * Decides a running request again, with what its handler decided. Throws as `authorize`, but not if the object was deleted:
 * that takes no right away.
 */
export async function authorizeAgain(input: AuthorizeInput): Promise<void> {
  const { request, services, bucket, operation } = input;
  const isOfObject = operation.asks === 'object';
  const access = await authorize(isOfObject ? { ...input, operation: { ...operation, byHandler: true } } : input);
  if (!isOfObject) return;
  const name = readName(request);
  const found = await services.objects.find({ bucket, ...name }).catch((error: unknown) => {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  });
  if (found !== null && !isAllowed(questionAbout(access, questionName(name), found.version))) throw denied(bucket);
}

export interface NameInBucket {
  key: string;
  versionId?: string;
}

/**
 * Reads an object and authorizes access to it. A caller without list permission gets `AccessDenied` for a missing key,
 * so that it cannot probe for names.
 */
export async function findAllowed(
  services: StoreServices,
  access: RequestAccess,
  name: NameInBucket,
): Promise<FoundObject> {
  const { bucket } = access.facts;
  let found: FoundObject;
  try {
    found = await services.objects.find({ bucket, ...name });
  } catch (error) {
    if (isAppError(error) && error.status < 500 && !mayList(access, name.key)) throw denied(bucket);
    throw error;
  }
  if (!isAllowed(questionAbout(access, questionName(name), found.version))) throw denied(bucket);
  return found;
}

/** Whether the caller may perform the operation on this name. For operations on several objects. */
export function mayDoTo(access: RequestAccess, name: NameInBucket): boolean {
  return isAllowed(questionAbout(access, questionName(name)));
}

/** Whether the caller may also perform an optional action of the operation, such as `s3:BypassGovernanceRetention`. */
export function mayAlso(access: RequestAccess, action: PolicyAction, needs: StoreAction, name: NameInBucket): boolean {
  return isAllowed(questionAbout({ ...access, operation: { action, asks: 'key', needs } }, questionName(name)));
}

export function denied(bucket: BucketRecord): Error {
  return storeErrors.AccessDenied({ details: { resource: bucket.name } });
}

function mayList(access: RequestAccess, key: string): boolean {
  const { facts } = access;
  const question = questionAbout(access, { key: null, byVersion: false });
  const conditions = createConditionValues(facts);
  return isAllowed({
    ...question,
    needs: 'object:list',
    action: 's3:ListBucket',
    acl: { on: 'bucket', permission: 'READ' },
    conditions: (name) => (name === 's3:prefix' ? [key] : conditions(name)),
  });
}

function questionAbout(
  { rules, operation, facts }: RequestAccess,
  name: { key: string | null; byVersion: boolean },
  version?: ObjectVersion,
): AccessQuestion {
  const { caller, bucket } = facts;
  const list = version?.attributes.accessControlList;
  const conditions = createConditionValues(facts);
  // An ACL grant to write does not allow removing noncurrent versions.
  const ignoresAcl = name.byVersion && operation.acl?.on === 'bucket' && operation.asks !== 'bucket';
  return {
    caller,
    bucket,
    access: rules,
    needs: operation.needs,
    action: name.byVersion ? (operation.versionAction ?? operation.action) : operation.action,
    key: operation.asks === 'bucket' ? null : name.key,
    acl: ignoresAcl ? null : (operation.acl ?? null),
    objectAcl: list === undefined ? null : parseAcl(list),
    conditions: version === undefined ? conditions : withObjectTags(conditions, version.attributes.tags),
  };
}

/** Headers of a write that require a further action. */
const IMPLIED_ACTIONS: readonly (readonly [RegExp, PolicyAction])[] = [
  [/^x-amz-(acl|grant-.+)$/, 's3:PutObjectAcl'],
  [/^x-amz-tagging$/, 's3:PutObjectTagging'],
  [/^x-amz-object-lock-(mode|retain-until-date)$/, 's3:PutObjectRetention'],
  [/^x-amz-object-lock-legal-hold$/, 's3:PutObjectLegalHold'],
];

/** A policy that denies such an action also denies it as a header of the write. */
function isImpliedActionDenied({ rules, facts }: RequestAccess, question: AccessQuestion): boolean {
  if (rules.policy === null || question.action !== 's3:PutObject') return false;
  return IMPLIED_ACTIONS.some(([pattern, action]) => facts.sends(pattern) && isDenied({ ...question, action }));
}

function readName({ key, query }: S3Request): NameInBucket {
  if (key === null) throw storeErrors.InvalidURI();
  const versionId = query.versionId();
  return { key, ...(versionId === undefined ? {} : { versionId }) };
}

function questionName({ key, versionId }: NameInBucket): { key: string; byVersion: boolean } {
  return { key, byVersion: versionId !== undefined };
}

function readRequestFacts({ request, services, caller, bucket, authType }: AuthorizeInput): RequestFacts {
  const presigned = request.query.has('X-Amz-Signature');
  return {
    request,
    caller,
    bucket,
    header: (name) => request.headers.get(name),
    sends: (pattern) => [...request.headers.names()].some((name) => pattern.test(name)),
    nowMs: services.deps.clock.nowMs(),
    authType: authType ?? (caller.accessKeyId === null ? null : presigned ? 'REST-QUERY-STRING' : 'REST-HEADER'),
  };
}
