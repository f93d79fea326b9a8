import type { StoreAction } from '../ports/maker-rights.ts';
import type { BucketRecord } from '../ports/records.ts';
import { mayDo, type Caller } from '../caller.ts';
import { grantsPermission, type AccessControlList, type Permission } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';
import type { ConditionValues } from './policy/conditions.ts';
import { evaluatePolicy, type PolicyAnswer } from './policy/evaluate.ts';

/** What an ACL can allow: a permission on the bucket or on the object. */
export interface AclNeed {
  on: 'bucket' | 'object';
  permission: Permission;
}

export interface AccessQuestion {
  caller: Caller;
  bucket: BucketRecord;
  access: BucketAccess;
  /** What the caller's own key must be good for. */
  needs: StoreAction;
  /** Such as `s3:GetObject`. */
  action: string;
  /** Null when the bucket itself is meant. */
  key: string | null;
  /** Null where no ACL helps: such things are the bucket owner's, or allowed by policy. */
  acl: AclNeed | null;
  /** The object's list; null when it is private to the bucket's owner, or there is no object in question. */
  objectAcl: AccessControlList | null;
  conditions: ConditionValues;
}

/** Not even an owner who denied it to everybody is locked out of the policy itself. */
const POLICY_ACTIONS: ReadonlySet<string> = new Set([
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
]);
const READ_ACTIONS: ReadonlySet<string> = new Set(['s3:GetObject', 's3:GetObjectVersion']);

/**
 * The one place where the S3 plane decides: what the caller's key is good for AND no deny of the policy AND (owner OR the
 * policy allows OR an ACL grants OR the bucket is public by its setting).
 */
export function isAllowed(question: AccessQuestion): boolean {
  const { caller, bucket, access, needs, key } = question;
  if (!mayDo(caller, needs, bucket.name)) return false;
  const isBucketOwner = caller.workspaceUuid === bucket.workspaceUuid;
  const answer = askPolicy(question);
  if (answer === 'deny') return isBucketOwner && POLICY_ACTIONS.has(question.action);
  const objectOwner = objectOwnerOf(question);
  const ownsObject = key === null || objectOwner === bucket.workspaceUuid;
  if (isBucketOwner && (ownsObject || question.acl?.on !== 'object')) return true;
  // Whatever else would let others in: a public bucket that is restricted is its owner's alone.
  if (!isBucketOwner && access.block.restrictPublicBuckets && access.policy?.isPublic === true) return false;
  // A policy speaks for the bucket's owner, so only about what is the owner's.
  if (answer === 'allow' && ownsObject) return true;
  return isGranted(question) || isPublicByDefault(question);
}

/** For what an operation does besides: only a deny of the policy stands against it. */
export function isDenied(question: AccessQuestion): boolean {
  return askPolicy(question) === 'deny';
}

/** Whose the object in question is: the list says it, unless the bucket's owner owns everything. */
export function objectOwnerOf({
  access,
  bucket,
  objectAcl,
}: Pick<AccessQuestion, 'access' | 'bucket' | 'objectAcl'>): string {
  if (access.ownership === 'BucketOwnerEnforced') return bucket.workspaceUuid;
  return objectAcl?.owner ?? bucket.workspaceUuid;
}

function askPolicy({ caller, bucket, access, action, key, conditions }: AccessQuestion): PolicyAnswer {
  if (access.policy === null) return 'silent';
  const { workspaceUuid, accessKeyId } = caller;
  return evaluatePolicy(access.policy, {
    workspaceUuid,
    accessKeyId,
    action,
    bucketName: bucket.name,
    key,
    conditions,
  });
}

function isGranted({ caller, access, acl, objectAcl }: AccessQuestion): boolean {
  if (acl === null || access.ownership === 'BucketOwnerEnforced') return false;
  const list = acl.on === 'bucket' ? access.acl : objectAcl;
  if (list === null) return false;
  const { workspaceUuid } = caller;
  return grantsPermission(list, acl.permission, { workspaceUuid, ignorePublic: access.block.ignorePublicAcls });
}

function isPublicByDefault({ access, action }: AccessQuestion): boolean {
  const { ignorePublicAcls, restrictPublicBuckets } = access.block;
  return access.publicDefault && READ_ACTIONS.has(action) && !ignorePublicAcls && !restrictPublicBuckets;
}
