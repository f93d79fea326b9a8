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

/** Part of `ObjectAttributes`. Empty for an object that is private to the bucket's owner. */
export interface NewObjectAcl {
  accessControlList?: string;
}

/** Determines the owner and grants of a new object from the headers of the request. Used by every write. */
export function aclOfNewObject(context: BucketContext): Promise<NewObjectAcl> {
  const { caller, services, request } = context;
  return readNewObjectAcl({
    header: (name) => request.headers.get(name),
    rules: context.access.rules,
    bucket: context.bucket,
    caller,
    owners: services.deps.owners,
  });
}

/**
 * Throws `AccessControlListNotSupported` if the bucket's owner owns everything, `AccessDenied` for public ACLs that the
 * bucket blocks or for a key that may not configure the bucket, and the usual errors for malformed headers. Anonymous
 * writers may set an ACL; their objects belong to the bucket's owner, since the bucket was opened to the public with
 * everything in it.
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

/** Checks the right to share again on completion: the key or its creator may have lost it since the upload began. */
export function assertMayComplete({ attributes }: UploadRecord, caller: Caller, bucket: BucketRecord): void {
  const { accessControlList } = attributes;
  if (accessControlList !== undefined) assertMayShare(caller, parseAcl(accessControlList), bucket);
}

function assertMayShare(caller: Caller, acl: AccessControlList, bucket: BucketRecord): void {
  if (caller.accessKeyId === null || !sharesWithOthers(acl, bucket.workspaceUuid)) return;
  if (mayDo(caller, 'bucket:update', bucket.name)) return;
  throw storeErrors.AccessDenied({
    details: { reason: 'An ACL that grants access to others requires a key with admin permission' },
  });
}

function givesAllToBucketOwner(requested: RequestedAcl): boolean {
  return 'canned' in requested && requested.canned === 'bucket-owner-full-control';
}
