import {
  isPrivate,
  isPublicAcl,
  parseAcl,
  privateAcl,
  sharesWithOthers,
  type AccessControlList,
} from '../../domain/access/access-control-list.ts';
import type { BucketAccess } from '../../domain/access/bucket-access.ts';
import { mayDo, type Caller } from '../../domain/caller.ts';
import { storeErrors } from '../../errors.ts';
import type { OwnerDirectory } from '../../domain/ports/owner-directory.ts';
import type { BucketRecord, UploadRecord } from '../../domain/ports/records.ts';
import type { BucketContext } from '../s3-context.ts';
import { readAclHeaders, resolveAcl, type RequestedAcl } from './requested-acl.ts';

export interface NewObject {
  header: (name: string) => string | undefined;
  rules: BucketAccess;
  bucket: BucketRecord;
  caller: Caller;
  owners: OwnerDirectory;
}

/** Of `ObjectAttributes`; empty for an object that is private to the bucket's owner. */
export interface NewObjectAcl {
  accessControlList?: string;
}

/** For every write: who owns the new object and who else may use it, by the headers of the request. */
export function aclOfNewObject(context: BucketContext): Promise<NewObjectAcl> {
  const { caller, services, request } = context;
  return readNewObjectAcl({
    header: (name) => request.headers.get(name),
    rules: context.access.rules,
    bucket: context.bucket,
    caller,
    owners: services.parts.owners,
  });
}

/**
 * Throws `AccessControlListNotSupported` where the bucket's owner owns everything, `AccessDenied` for public ACLs that the
 * bucket blocks and for a key that may not configure it, and what is wrong with the headers themselves. Unsigned objects
 * belong to the bucket's owner, and may say whom they let in: the bucket was opened to the public with everything in it.
 */
export async function readNewObjectAcl({ header, rules, bucket, caller, owners }: NewObject): Promise<NewObjectAcl> {
  const requested = readAclHeaders(header);
  const bucketOwner = bucket.workspaceUuid;
  if (rules.ownership === 'BucketOwnerEnforced') {
    if (requested !== null && !givesAllToBucketOwner(requested)) throw storeErrors.AccessControlListNotSupported();
    return {};
  }
  const gives = requested !== null && 'canned' in requested && requested.canned === 'bucket-owner-full-control';
  const writer = caller.workspaceUuid ?? bucketOwner;
  const owner = rules.ownership === 'BucketOwnerPreferred' && gives ? bucketOwner : writer;
  if (requested === null && owner === bucketOwner) return {};
  const acl = requested === null ? privateAcl(owner) : await resolveAcl(requested, owner, bucketOwner, owners);
  assertMayShare(caller, acl, bucket);
  if (rules.block.blockPublicAcls && isPublicAcl(acl)) {
    throw storeErrors.AccessDenied({
      details: { reason: 'Public ACLs are blocked by the public access block of the bucket' },
    });
  }
  return owner === bucketOwner && isPrivate(acl) ? {} : { accessControlList: JSON.stringify(acl) };
}

/** An upload shares its object when it ends, by when its key or its maker may have lost the right to. */
export function assertMayComplete({ attributes }: UploadRecord, caller: Caller, bucket: BucketRecord): void {
  const { accessControlList } = attributes;
  if (accessControlList !== undefined) assertMayShare(caller, parseAcl(accessControlList), bucket);
}

function assertMayShare(caller: Caller, acl: AccessControlList, bucket: BucketRecord): void {
  if (caller.accessKeyId === null || !sharesWithOthers(acl, bucket.workspaceUuid)) return;
  if (mayDo(caller, 'bucket:update', bucket.name)) return;
  throw storeErrors.AccessDenied({
    details: { reason: 'An ACL that lets others in needs a key with admin permission' },
  });
}

function givesAllToBucketOwner(requested: RequestedAcl): boolean {
  return 'canned' in requested && requested.canned === 'bucket-owner-full-control';
}
