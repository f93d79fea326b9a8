import type { StoreAction } from '../ports/maker-rights.ts';
import type { BucketRecord } from '../ports/records.ts';
import { mayDo, type Caller } from '../caller.ts';
import { grantsPermission, type AccessControlList, type Permission } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';
import type { ConditionValues } from './policy/conditions.ts';
import { evaluatePolicy, type PolicyAnswer } from './policy/evaluate.ts';

/** An ACL permission that can allow an operation, on the bucket or on the object. */
export interface AclNeed {
  on: 'bucket' | 'object';
  permission: Permission;
}

export interface AccessQuestion {
  caller: Caller;
  bucket: BucketRecord;
  access: BucketAccess;
  /** Action that the caller's key must allow. */
  needs: StoreAction;
  /** Policy action, such as `s3:GetObject`. */
  action: string;
  /** Null for the bucket itself. */
  key: string | null;
  /** Null if no ACL can allow the action: only the bucket's owner or a policy can. */
  acl: AclNeed | null;
  /** The object's ACL. Null if it is private to the bucket's owner, or the action is not about an object. */
  objectAcl: AccessControlList | null;
  conditions: ConditionValues;
}

/** The bucket's owner can always manage the policy, even if it denies everyone. */
const POLICY_ACTIONS: ReadonlySet<string> = new Set([
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
]);
const READ_ACTIONS: ReadonlySet<string> = new Set(['s3:GetObject', 's3:GetObjectVersion']);

/**
 * The single access decision of the S3 plane: the caller's key allows the action AND the policy does not deny it AND
 * (owner OR the policy allows it OR an ACL grants it OR the bucket's setting makes it public).
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
  // `restrictPublicBuckets` overrides everything below: a bucket with a public policy is open to its owner only.
  if (!isBucketOwner && access.block.restrictPublicBuckets && access.policy?.isPublic === true) return false;
  // A policy speaks for the bucket's owner, so it applies only to objects of that owner.
  if (answer === 'allow' && ownsObject) return true;
  return isGranted(question) || isPublicByDefault(question);
}

/** Whether the policy denies an action that the operation implies. Nothing else can block such an action. */
export function isDenied(question: AccessQuestion): boolean {
  return askPolicy(question) === 'deny';
}

/** The object's owner according to its ACL, unless the bucket's owner owns everything. */
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
