import type { Limits, Usage } from '@svc/quotas';
import type { BucketRecord, BucketUsage, EncryptionMode } from './records.ts';

/** Input of `createBucket`. */
export interface CreateBucket {
  id: number;
  name: string;
  workspaceUuid: string;
  nowMs: number;
  encryptionMode: EncryptionMode;
  locationHint: string | null;
  /** Versioned from the start, and its versions can be locked. */
  objectLock?: boolean;
  /** Bucket limits of the workspace and its owner. */
  tenant: Limits;
}

/** Input of `deleteBucket`. */
export interface DeleteBucket {
  bucketId: number;
  nowMs: number;
  trashDueAtMs: number;
}

/** Commands on buckets and their lifetime. Each is one transaction. */
export interface BucketCommands {
  /**
   * Also provisions the workspace's store. Throws `BucketAlreadyOwnedByYou`, `BucketAlreadyExists` or `TooManyBuckets`.
   */
  createBucket(input: CreateBucket): Promise<BucketRecord>;
  /** Deletes a bucket without objects, and aborts its uploads. Throws `NoSuchBucket` or `BucketNotEmpty`. */
  deleteBucket(input: DeleteBucket): Promise<void>;
  /**
   * Hides the bucket and its contents, and keeps both until `purgeAtMs`. The name stays taken. Throws `NoSuchBucket`.
   */
  softDeleteBucket(input: { bucketId: number; nowMs: number; purgeAtMs: number }): Promise<BucketRecord>;
  /**
   * Throws `NoSuchBucket` if it does not exist or `purgeAtMs` has passed, `InvalidBucketState` for an active bucket.
   */
  restoreBucket(input: { name: string; workspaceUuid: string; nowMs: number }): Promise<BucketRecord>;
  /** Removes part of a bucket past its `purgeAtMs`. Returns true once nothing of it is left. */
  purgeBucket(input: { bucketId: number; nowMs: number; limit: number; trashDueAtMs: number }): Promise<boolean>;
}

/** Queries of buckets and their lifetime. */
export interface BucketQueries {
  isProvisioned(input: { workspaceUuid: string }): Promise<boolean>;
  /** Active buckets only. */
  findBucket(input: { name: string }): Promise<BucketRecord | null>;
  /** Includes soft-deleted buckets. */
  findBucketById(input: { bucketId: number }): Promise<BucketRecord | null>;
  listBuckets(input: {
    workspaceUuid: string;
    prefix: string;
    after: string;
    limit: number;
  }): Promise<readonly (BucketRecord & BucketUsage)[]>;
  /** Soft-deleted buckets, latest first. */
  listDeletedBuckets(input: { workspaceUuid: string; nowMs: number; limit: number }): Promise<readonly BucketRecord[]>;
  bucketsToPurge(input: { nowMs: number; limit: number }): Promise<readonly number[]>;
  /** Totals of all active buckets of a workspace. */
  workspaceUsage(input: { workspaceUuid: string }): Promise<BucketUsage & { buckets: number }>;
  /** Usage that counts toward a workspace's quotas, by name. */
  quotaUsage(input: { workspaceUuid: string }): Promise<Usage>;
}
