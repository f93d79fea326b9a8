export const PERMISSIONS = ['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** `all-users`: anyone. `authenticated-users`: anyone with a key of this store. */
export type GranteeGroup = 'all-users' | 'authenticated-users' | 'log-delivery';

export type Grantee = { workspaceUuid: string } | { group: GranteeGroup };

export interface Grant {
  grantee: Grantee;
  permission: Permission;
}

/** The document `access-control-list` of a bucket, and `attributes.accessControlList` of a version. */
export interface AccessControlList {
  /** UUID of the workspace that owns the bucket or object. */
  owner: string;
  grants: readonly Grant[];
}

export const CANNED_ACLS = [
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
  'log-delivery-write',
] as const;
export type CannedAcl = (typeof CANNED_ACLS)[number];

export function isCannedAcl(name: string): name is CannedAcl {
  return (CANNED_ACLS as readonly string[]).includes(name); // widened for the lookup
}

/** Expands a canned ACL. The `bucket-owner-…` ACLs add nothing if the bucket's owner also owns the object. */
export function cannedAcl(name: CannedAcl, owner: string, bucketOwner: string): AccessControlList {
  const own: Grant = { grantee: { workspaceUuid: owner }, permission: 'FULL_CONTROL' };
  const group = (of: GranteeGroup, permission: Permission): Grant => ({ grantee: { group: of }, permission });
  const bucketOwners = (permission: Permission): readonly Grant[] =>
    owner === bucketOwner ? [] : [{ grantee: { workspaceUuid: bucketOwner }, permission }];
  const more: Readonly<Record<CannedAcl, readonly Grant[]>> = {
    private: [],
    'aws-exec-read': [],
    'public-read': [group('all-users', 'READ')],
    'public-read-write': [group('all-users', 'READ'), group('all-users', 'WRITE')],
    'authenticated-read': [group('authenticated-users', 'READ')],
    'bucket-owner-read': bucketOwners('READ'),
    'bucket-owner-full-control': bucketOwners('FULL_CONTROL'),
    'log-delivery-write': [group('log-delivery', 'WRITE'), group('log-delivery', 'READ_ACP')],
  };
  return { owner, grants: [...more[name], own] };
}

export function privateAcl(owner: string): AccessControlList {
  return cannedAcl('private', owner, owner);
}

/** Whether the ACL grants full control to its owner and nothing else. */
export function isPrivate({ owner, grants }: AccessControlList): boolean {
  const [only] = grants;
  return (
    grants.length === 1 &&
    only?.permission === 'FULL_CONTROL' &&
    'workspaceUuid' in only.grantee &&
    only.grantee.workspaceUuid === owner
  );
}

/** Whether the ACL grants anything to the public or to all authenticated users. */
export function isPublicAcl({ grants }: AccessControlList): boolean {
  return grants.some(({ grantee }) => isPublicGrantee(grantee));
}

/** Whether the ACL grants access beyond its owner and the bucket's owner. */
export function sharesWithOthers({ owner, grants }: AccessControlList, bucketOwner: string): boolean {
  return grants.some(
    ({ grantee }) => 'group' in grantee || (grantee.workspaceUuid !== owner && grantee.workspaceUuid !== bucketOwner),
  );
}

export interface AclReader {
  /** Null for an anonymous reader. */
  workspaceUuid: string | null;
  /** Ignores grants to the public. */
  ignorePublic: boolean;
}

/** Whether a grant gives the permission. The owner can always read and change the ACL itself. */
export function grantsPermission(list: AccessControlList, permission: Permission, reader: AclReader): boolean {
  const aboutItself = permission === 'READ_ACP' || permission === 'WRITE_ACP';
  if (aboutItself && reader.workspaceUuid === list.owner) return true;
  return list.grants.some(
    (grant) => (grant.permission === permission || grant.permission === 'FULL_CONTROL') && means(grant.grantee, reader),
  );
}

function means(grantee: Grantee, { workspaceUuid, ignorePublic }: AclReader): boolean {
  if ('workspaceUuid' in grantee) return grantee.workspaceUuid === workspaceUuid;
  if (ignorePublic) return false;
  return grantee.group === 'all-users' || (grantee.group === 'authenticated-users' && workspaceUuid !== null);
}

function isPublicGrantee(grantee: Grantee): boolean {
  return 'group' in grantee && grantee.group !== 'log-delivery';
}

/** Parses a document that this store wrote. */
export function parseAcl(document: string): AccessControlList {
  return JSON.parse(document) as AccessControlList; // written by `JSON.stringify` of the same type
}
