import { storeErrors } from '../errors.ts';
import { STORE_ACTIONS, type StoreAction } from './ports/maker-rights.ts';
import type { AccessKeyRecord, KeyMaker } from './ports/records.ts';

/** The caller of the S3 plane: a workspace, through one of its keys, or an anonymous client. */
export interface Caller {
  /** Null for anonymous. */
  accessKeyId: string | null;
  /** Null for anonymous. */
  workspaceUuid: string | null;
  /** Creator of the key. Null for anonymous. */
  maker: KeyMaker | null;
  /** Actions that the key allows and its creator currently may do. */
  actions: ReadonlySet<StoreAction>;
  /** Names of buckets, or null for all. */
  buckets: readonly string[] | null;
}

/** Anonymous callers are limited by the bucket's policy and ACL instead of a key. They can never configure a bucket. */
export const ANONYMOUS: Caller = {
  accessKeyId: null,
  workspaceUuid: null,
  maker: null,
  actions: new Set(['bucket:read', 'object:list', 'object:read', 'object:write', 'object:delete']),
  buckets: null,
};

export function createCaller({ key, actions }: { key: AccessKeyRecord; actions: ReadonlySet<StoreAction> }): Caller {
  const { accessKeyId, workspaceUuid, createdBy: maker, buckets } = key;
  return { accessKeyId, workspaceUuid, maker, actions, buckets };
}

/** The workspace of an authenticated caller. Throws `AccessDenied` for an anonymous one. */
export function requireWorkspace(caller: Caller): string {
  if (caller.workspaceUuid === null) throw storeErrors.AccessDenied();
  return caller.workspaceUuid;
}

/** Whether the caller's key allows an action, and covers the bucket if there is one. */
export function mayDo({ actions, buckets }: Caller, needed: StoreAction, bucketName: string | null): boolean {
  if (buckets !== null && bucketName !== null && !buckets.includes(bucketName)) return false;
  return actions.has(needed);
}

const READS: readonly StoreAction[] = ['bucket:list', 'bucket:read', 'object:list', 'object:read'];
const WRITES: readonly StoreAction[] = ['bucket:list', 'object:write', 'object:delete'];

/**
 * Expands the permissions of a key. On named buckets a key is ReadOnly (`read` alone) or Editor (anything with `write`
 * or `admin`). Only keys for all buckets can create buckets; only those with `admin` can configure and delete them.
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
