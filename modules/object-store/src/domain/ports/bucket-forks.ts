import type { CreateBucket } from './buckets.ts';
import type { BucketRecord, BucketUsage } from './records.ts';

/** Input of `forkBucket`. */
export interface ForkBucket extends Pick<CreateBucket, 'id' | 'name' | 'workspaceUuid' | 'nowMs' | 'tenant'> {
  sourceId: number;
}

/** A bucket that was made as a fork, with its usage: as admitted until it is complete. */
export interface BucketFork extends BucketUsage {
  bucket: BucketRecord;
  /** Name of the source at the time of the fork. */
  sourceName: string;
  startedAtMs: number;
  /** Null while objects are copied. */
  finishedAtMs: number | null;
  copiedCount: number;
}

/**
 * Commands on forks: buckets whose objects share the bytes of another bucket's. A fork shows its source as it was at the
 * commit of `forkBucket`, however much the source changes until the last `copyToFork`.
 */
export interface BucketForkCommands {
  /**
   * Creates a hidden bucket in the state `forking`, and admits its usage. Throws like `createBucket`, `NoSuchBucket` for
   * the source and `QuotaExceeded`.
   */
  forkBucket(input: ForkBucket): Promise<BucketRecord>;
  /**
   * Copies up to `limit` objects. Returns true once nothing is left to do: the bucket is active, or the fork was
   * abandoned. Can be repeated by any replica.
   */
  copyToFork(input: { bucketId: number; workspaceUuid: string; limit: number; nowMs: number }): Promise<boolean>;
  /** Removes a bucket in the state `forking`; the purge of buckets removes its rows. False if it is in no such state. */
  abandonFork(input: { bucketId: number; nowMs: number }): Promise<boolean>;
}

/** Queries of forks. */
export interface BucketForkQueries {
  /** A fork of the workspace, complete or not; null if there is none of this name. */
  findFork(input: { name: string; workspaceUuid: string }): Promise<BucketFork | null>;
  /** Forks that are not complete, oldest first. */
  openForks(input: { limit: number }): Promise<readonly { bucketId: number; workspaceUuid: string }[]>;
}
