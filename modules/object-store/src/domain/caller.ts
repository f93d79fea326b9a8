import { storeErrors } from '../errors.ts';
import { STORE_ACTIONS, type StoreAction } from './ports/maker-rights.ts';
import type { AccessKeyRecord, KeyMaker } from './ports/records.ts';

/** Who calls the S3 plane: a workspace through one of its keys, or an anonymous client. */
export interface Caller {
  /** Null for anonymous. */
  accessKeyId: string | null;
  /** Null for anonymous. */
  workspaceUuid: string | null;
  /** Who created the key; null for anonymous. */
  maker: KeyMaker | null;
  /** What the key is good for, as far as its maker may do it now. */
  actions: ReadonlySet<StoreAction>;
  /** Names of buckets, or null for all. */
  buckets: readonly string[] | null;
}

/** No key limits an anonymous caller: the bucket's own policy and ACL decide. They never let one configure a bucket. */
export const ANONYMOUS: Caller = {
  accessKeyId: null,
  workspaceUuid: null,
  maker: null,
  actions: new Set(['bucket:read', 'object:list', 'object:read', 'object:write', 'object:delete']),
  buckets: null,
};

export function callerOf({ key, actions }: { key: AccessKeyRecord; actions: ReadonlySet<StoreAction> }): Caller {
  const { accessKeyId, workspaceUuid, createdBy: maker, buckets } = key;
  return { accessKeyId, workspaceUuid, maker, actions, buckets };
}

/** The workspace of a caller who signed. Throws `AccessDenied` for one who did not. */
export function workspaceOf(caller: Caller): string {
  if (caller.workspaceUuid === null) throw storeErrors.AccessDenied();
  return caller.workspaceUuid;
}

/** Whether the caller's key is good for an action, on this bucket where there is one. */
export function mayDo({ actions, buckets }: Caller, needed: StoreAction, bucketName: string | null): boolean {
  if (buckets !== null && bucketName !== null && !buckets.includes(bucketName)) return false;
  return actions.has(needed);
}

const READS: readonly StoreAction[] = ['bucket:list', 'bucket:read', 'object:list', 'object:read'];
const WRITES: readonly StoreAction[] = ['bucket:list', 'object:write', 'object:delete'];

/**
 * What the permissions of a key stand for. On named buckets a key is ReadOnly (`read` alone) or Editor (anything with
 * `write` or `admin`). Only keys for all buckets create buckets; only those with `admin` configure and delete them.
 */
export function keyActions({
  permissions,
  buckets,
}: Pick<AccessKeyRecord, 'permissions' | 'buckets'>): readonly StoreAction[] {
  const isAdmin = permissions.includes('admin');
  if (isAdmin && buckets === null) return STORE_ACTIONS;
  const isEditor = isAdmin || permissions.includes('write');
  const reads = permissions.includes('read') || (isEditor && buckets !== null);
  const writes = buckets === null ? [...WRITES, 'bucket:create' as const] : WRITES;
  return [...new Set([...(reads ? READS : ['bucket:list' as const]), ...(isEditor ? writes : [])])];
}
