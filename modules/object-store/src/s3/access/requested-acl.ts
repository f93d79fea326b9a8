import {
  cannedAcl,
  isCannedAcl,
  type AccessControlList,
  type CannedAcl,
  type Grant,
  type Grantee,
  type GranteeGroup,
  type Permission,
} from '../../domain/access/access-control-list.ts';
import { workspaceOfOwnerId } from '../../domain/access/owner-identity.ts';
import { storeErrors } from '../../errors.ts';
import type { OwnerDirectory } from '../../domain/ports/owner-directory.ts';

/** AWS's limit on grants per ACL. */
export const MAX_GRANTS = 100;

/** A grantee as named in a request. */
export type NamedGrantee = { id: string } | { email: string } | { uri: string };

export interface NamedGrant {
  grantee: NamedGrantee;
  permission: Permission;
}

/** The ACL that a request asks for: a canned ACL, or a list of grants. */
export type RequestedAcl = { canned: CannedAcl } | { grants: readonly NamedGrant[] };

const GROUPS: ReadonlyMap<string, GranteeGroup> = new Map([
  ['http://acs.amazonaws.com/groups/global/AllUsers', 'all-users'],
  ['http://acs.amazonaws.com/groups/global/AuthenticatedUsers', 'authenticated-users'],
  ['http://acs.amazonaws.com/groups/s3/LogDelivery', 'log-delivery'],
]);

const GRANT_HEADERS: readonly (readonly [string, Permission])[] = [
  ['x-amz-grant-read', 'READ'],
  ['x-amz-grant-write', 'WRITE'],
  ['x-amz-grant-read-acp', 'READ_ACP'],
  ['x-amz-grant-write-acp', 'WRITE_ACP'],
  ['x-amz-grant-full-control', 'FULL_CONTROL'],
];

/** Whether the request has ACL headers. */
export function hasAclHeaders(header: (name: string) => string | undefined): boolean {
  return ['x-amz-acl', ...GRANT_HEADERS.map(([name]) => name)].some((name) => header(name) !== undefined);
}

/** Canned ACLs that grant nothing beyond the owners of the object and its bucket. */
const SHARES_NOTHING: ReadonlySet<string> = new Set<CannedAcl>([
  'private',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
]);

/** Whether the headers ask to share with others, judged by their names and the canned ACL only. */
export function asksToShare(header: (name: string) => string | undefined): boolean {
  const canned = header('x-amz-acl');
  if (canned !== undefined) return !SHARES_NOTHING.has(canned);
  return GRANT_HEADERS.some(([name]) => header(name) !== undefined);
}

/** Reads `x-amz-acl` or `x-amz-grant-…`. Null if the request has neither. */
export function readAclHeaders(header: (name: string) => string | undefined): RequestedAcl | null {
  const canned = header('x-amz-acl');
  if (canned !== undefined && GRANT_HEADERS.some(([name]) => header(name) !== undefined)) {
    const reason = 'Specifying both Canned ACLs and Header Grants is not allowed.';
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  const grants = GRANT_HEADERS.flatMap(([name, permission]) => {
    const value = header(name);
    return value === undefined ? [] : readGrantees(value).map((grantee) => ({ grantee, permission }));
  });
  if (canned === undefined) return grants.length === 0 ? null : { grants: assertFew(grants) };
  if (!isCannedAcl(canned)) {
    throw storeErrors.InvalidArgument({ details: { reason: `Unknown canned ACL: ${canned}`, field: 'x-amz-acl' } });
  }
  return { canned };
}

export function assertFew(grants: readonly NamedGrant[]): readonly NamedGrant[] {
  if (grants.length > MAX_GRANTS) throw storeErrors.MalformedACLError();
  return grants;
}

/** Resolves a requested ACL. Throws if it names a grantee that is unknown to this store. */
export async function resolveAcl(
  requested: RequestedAcl,
  owner: string,
  bucketOwner: string,
  owners: OwnerDirectory,
): Promise<AccessControlList> {
  if ('canned' in requested) return cannedAcl(requested.canned, owner, bucketOwner);
  const grants: Grant[] = [];
  for (const { grantee, permission } of requested.grants) {
    grants.push({ grantee: await resolveGrantee(grantee, owners), permission });
  }
  return { owner, grants };
}

async function resolveGrantee(named: NamedGrantee, owners: OwnerDirectory): Promise<Grantee> {
  if ('uri' in named) {
    const group = GROUPS.get(named.uri);
    if (group === undefined) throw storeErrors.InvalidArgument({ details: { reason: 'Invalid group uri' } });
    return { group };
  }
  if ('email' in named) {
    const workspaceUuid = await owners.byEmail(named.email);
    if (workspaceUuid === null) throw storeErrors.UnresolvableGrantByEmailAddress();
    return { workspaceUuid };
  }
  const workspaceUuid = workspaceOfOwnerId(named.id);
  if (workspaceUuid === null || !(await owners.exists(workspaceUuid))) {
    throw storeErrors.InvalidArgument({ details: { reason: 'Invalid id' } });
  }
  return { workspaceUuid };
}

/** Parses `id="…", emailAddress="…", uri="…"`, quoted or not. */
function readGrantees(value: string): NamedGrantee[] {
  return value.split(',').map((piece) => {
    const [, kind = '', quoted, bare] = /^(\w+)\s*=\s*(?:"([^"]*)"|([^"\s]+))$/.exec(piece.trim()) ?? [];
    const text = quoted ?? bare ?? '';
    if (text !== '' && kind.toLowerCase() === 'id') return { id: text };
    if (text !== '' && kind.toLowerCase() === 'emailaddress') return { email: text };
    if (text !== '' && kind.toLowerCase() === 'uri') return { uri: text };
    throw storeErrors.InvalidArgument({ details: { reason: 'Argument format not recognized' } });
  });
}

/** The URI of a group, as ACLs show it. */
export function uriOfGroup(group: GranteeGroup): string {
  return [...GROUPS].find(([, named]) => named === group)?.[0] ?? '';
}
