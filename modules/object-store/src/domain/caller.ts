import { storeErrors } from '../errors.ts';
import type { AccessKeyRecord } from '../ports/records.ts';

/** What an operation needs of an access key. */
export type NeededPermission =
  /** Any valid key. */
  | 'any'
  | 'read'
  | 'write'
  /** A change to the bucket's own settings. */
  | 'configure'
  | 'create-bucket'
  | 'delete-bucket';

/** Who calls the S3 plane: a workspace through one of its keys, or somebody who did not sign. */
export interface Caller {
  /** Null for anonymous. */
  accessKeyId: string | null;
  /** Null for anonymous. */
  workspaceUuid: string | null;
  permissions: readonly ('read' | 'write' | 'admin')[];
  /** Names of buckets, or null for all. */
  buckets: readonly string[] | null;
}

export const ANONYMOUS: Caller = { accessKeyId: null, workspaceUuid: null, permissions: [], buckets: null };

export function callerOf(key: AccessKeyRecord): Caller {
  const { accessKeyId, workspaceUuid, permissions, buckets } = key;
  return { accessKeyId, workspaceUuid, permissions, buckets };
}

/** The workspace of a caller who signed. Throws `AccessDenied` for one who did not. */
export function workspaceOf(caller: Caller): string {
  if (caller.workspaceUuid === null) throw storeErrors.AccessDenied();
  return caller.workspaceUuid;
}

/**
 * What a key is good for, wherever it is used. On named buckets a key is ReadOnly (`read` alone) or Editor (anything with
 * `write` or `admin`); only keys for all buckets make buckets, and only admin ones delete them. Who has no key has no such
 * limits, and no bucket of his own either.
 */
export function mayDo(caller: Caller, needed: NeededPermission, bucketName: string | null): boolean {
  if (caller.workspaceUuid === null) return needed === 'read' || needed === 'write' || needed === 'configure';
  const isAdmin = caller.permissions.includes('admin');
  const isEditor = isAdmin || caller.permissions.includes('write');
  const { buckets } = caller;
  const named = buckets !== null;
  if (buckets !== null && bucketName !== null && !buckets.includes(bucketName)) return false;
  switch (needed) {
    case 'any':
      return true;
    case 'read':
      return isAdmin || caller.permissions.includes('read') || (named && isEditor);
    case 'write':
    case 'configure':
      return isEditor;
    case 'create-bucket':
      return isEditor && !named;
    case 'delete-bucket':
      return isAdmin && !named;
  }
}
