import { isAppError } from '@svc/errors';
import { forkName } from '../../domain/bucket-name.ts';
import type { StoreServices } from '../../domain/services.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { storeErrors } from '../../errors.ts';

/** A bucket as sandboxes know it. */
export interface NamedBucket {
  readonly workspaceUuid: string;
  readonly bucketName: string;
  readonly bucketId: number;
}

/** Forks of buckets that a sandbox mounts, for its own forks. The caller has authorized both. */
export interface FolderForks {
  /**
   * Forks a bucket and waits until the fork is complete. If it fails, takes longer, or the signal aborts, nothing is left
   * of it. Throws an `AppError`.
   */
  fork(source: NamedBucket, options: { name: string; waitMs: number; signal: AbortSignal }): Promise<NamedBucket>;
  /** A free name for a fork of the bucket. */
  forkName(bucketName: string): string;
  /** Deletes a fork, complete or not, permanently. False if the workspace has no such fork of the source. */
  discardFork(fork: { workspaceUuid: string; bucketName: string; sourceName: string }): Promise<boolean>;
  /** Deletes a bucket and its objects, permanently. False if it is gone. */
  discard(bucket: NamedBucket): Promise<boolean>;
}

export function createFolderForks({ buckets, forks, deps }: StoreServices): FolderForks {
  const find = async ({ bucketName, workspaceUuid, bucketId }: NamedBucket): Promise<BucketRecord | null> => {
    try {
      const bucket = await buckets.getOwn(bucketName, workspaceUuid);
      return bucket.id === bucketId ? bucket : null;
    } catch (error) {
      if (isAppError(error) && error.status === 404) return null;
      throw error;
    }
  };
  const discard = async (named: NamedBucket): Promise<boolean> => {
    const bucket = await find(named);
    if (bucket === null) return false;
    await buckets.discard(bucket);
    return true;
  };
  return {
    forkName: (bucketName) => forkName(bucketName, deps.random),
    fork: async (named, { name, waitMs, signal }) => {
      const { workspaceUuid } = named;
      const source = await find(named);
      if (source === null) throw storeErrors.NoSuchBucket({ details: { resource: named.bucketName } });
      try {
        const { bucket, finishedAtMs } = await forks.start({ source, name, waitMs, signal });
        if (finishedAtMs !== null) return { workspaceUuid, bucketName: name, bucketId: bucket.id };
      } catch (error) {
        await forks.abandon(name, workspaceUuid);
        throw error;
      }
      await forks.abandon(name, workspaceUuid);
      throw storeErrors.OperationAborted({ details: { reason: 'The bucket is too large to be forked in time' } });
    },
    discard,
    discardFork: async ({ workspaceUuid, bucketName, sourceName }) => {
      const fork = await deps.metadata.findFork({ name: bucketName, workspaceUuid });
      if (fork?.sourceName !== sourceName) return false;
      if ((await forks.abandon(bucketName, workspaceUuid)) !== null) return true;
      return discard({ workspaceUuid, bucketName, bucketId: fork.bucket.id });
    },
  };
}
