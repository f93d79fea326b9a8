import type { Maker } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import type { Isolation, MountedBucket, SandboxDriver } from '../driver.ts';

export const MAX_MOUNTS_OF_SANDBOX = 8;

/** A folder of a bucket of the workspace in a sandbox. */
export interface BucketMount extends MountedBucket {
  readonly bucket: string;
  /** The bucket that had this name when the sandbox was created. */
  readonly bucketId: number;
  /** Ends with `/`, unless it is empty. */
  readonly prefix: string;
  /** The mount may do what its creator may do now, and no more. */
  readonly maker: Maker;
  /** The bucket that this one was forked from for the sandbox, which may drop it. Absent for all others. */
  readonly forkedFrom?: string;
}

/** A mount of a create request. */
export interface WantedBucketMount {
  readonly bucket: string;
  readonly prefix: string;
  readonly path: string;
  readonly readOnly: boolean;
}

/** A folder as the object store serves it. */
export interface ServedFolder {
  readonly workspaceUuid: string;
  readonly bucketName: string;
  readonly bucketId: number;
  readonly prefix: string;
  readonly readOnly: boolean;
  readonly principalId: string;
}

/** A bucket of the object store. */
export type NamedBucket = Pick<ServedFolder, 'workspaceUuid' | 'bucketName' | 'bucketId'>;

/** The object store's buckets. */
export interface Buckets {
  /** Returns the id of a bucket; null if the workspace has none of this name. */
  find(workspaceUuid: string, bucketName: string): Promise<number | null>;
  /** Whether the same bucket still exists. */
  exists(folder: NamedBucket): Promise<boolean>;
  /** A free name for a fork of the bucket. */
  forkName(bucketName: string): string;
  /** Forks a bucket; all or nothing. Throws an `AppError`. */
  fork(source: NamedBucket, options: { name: string; waitMs: number; signal: AbortSignal }): Promise<NamedBucket>;
  /** Deletes a fork, complete or not, permanently. False if the workspace has no such fork of the source. */
  discardFork(fork: { workspaceUuid: string; bucketName: string; sourceName: string }): Promise<boolean>;
  /** Deletes a bucket and its objects, permanently. False if it is gone. */
  discard(bucket: NamedBucket): Promise<boolean>;
}

/** What a mount needs: reading, and unless it is read-only, changing objects. */
export function actionsOf({ readOnly }: Pick<BucketMount, 'readOnly'>) {
  const reads = ['object:list', 'object:read'] as const;
  return readOnly ? reads : ([...reads, 'object:write', 'object:delete'] as const);
}

export function servedFolder(workspaceUuid: string, mount: BucketMount): ServedFolder {
  const { bucket: bucketName, bucketId, prefix, readOnly, maker } = mount;
  return { workspaceUuid, bucketName, bucketId, prefix, readOnly, principalId: maker.principalId };
}

/** Throws MOUNTS_UNAVAILABLE. gVisor has not been tested with FUSE on the host, so that it is refused. */
export function assertMountsBuckets(driver: SandboxDriver, isolation: Isolation = 'namespaces'): void {
  const ofDriver = driver.whyNoMounts === undefined ? `the driver ${driver.name} cannot` : driver.whyNoMounts();
  const reason = isolation === 'gvisor' ? 'sandboxes with gVisor cannot' : ofDriver;
  if (reason !== null) throw sandboxErrors.MOUNTS_UNAVAILABLE({ details: { field: 'mounts', reason } });
}

/** Returns the prefix with a slash at its end. Throws INVALID_FIELD if it is not a path of file names. */
export function parsePrefix(prefix: string, field: string): string {
  if (prefix === '') return '';
  const names = (prefix.endsWith('/') ? prefix.slice(0, -1) : prefix).split('/');
  const isPath = names.every((name) => name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= 255);
  if (isPath && !prefix.includes('\0') && Buffer.byteLength(prefix) <= 512) return `${names.join('/')}/`;
  const reason = 'must be a path such as data/2026, without ., .. or a leading slash';
  throw sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
