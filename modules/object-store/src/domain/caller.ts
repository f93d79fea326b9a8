import { storeErrors } from '../errors.ts';
import type { AccessKeyRecord, BucketRecord } from '../ports/records.ts';

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

/** Who calls the S3 plane: always a workspace, through one of its keys. */
export interface Caller {
  accessKeyId: string;
  workspaceUuid: string;
  permissions: readonly ('read' | 'write' | 'admin')[];
  buckets: readonly string[] | null;
}

export function callerOf(key: AccessKeyRecord): Caller {
  const { accessKeyId, workspaceUuid, permissions, buckets } = key;
  return { accessKeyId, workspaceUuid, permissions, buckets };
}

/**
 * The one place where the S3 plane decides. On named buckets a key is ReadOnly (`read` alone) or Editor (anything with
 * `write` or `admin`); only keys for all buckets make buckets, and only admin ones delete them.
 */
export function mayDo(caller: Caller, needed: NeededPermission, bucketName: string | null): boolean {
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

/** A bucket of another workspace is refused whatever the key may do at home. */
export function assertAllowed(caller: Caller, needed: NeededPermission, bucket: BucketRecord): void {
  if (bucket.workspaceUuid !== caller.workspaceUuid || !mayDo(caller, needed, bucket.name)) {
    throw storeErrors.AccessDenied({ details: { resource: bucket.name } });
  }
}
