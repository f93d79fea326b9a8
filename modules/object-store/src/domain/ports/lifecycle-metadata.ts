import type { BucketRecord, ObjectAttributes, UploadRecord } from './records.ts';

/** A version, with the properties that lifecycle rules check. */
export interface AgingVersion {
  key: string;
  orderKey: number;
  versionId: string;
  isLatest: boolean;
  deleteMarker: boolean;
  sizeBytes: number;
  etag: string;
  modifiedAtMs: number;
  tags: NonNullable<ObjectAttributes['tags']>;
}

/** Queries of the lifecycle executor. */
export interface LifecycleQueries {
  /** Active buckets with rules, by id. */
  bucketsWithLifecycle(input: { afterBucketId: number; limit: number }): Promise<readonly BucketRecord[]>;
  /**
   * All versions by key, newest first, after the given one. If `afterOrderKey` is null, starts after all versions of
   * `afterKey`.
   */
  agingVersions(input: {
    bucketId: number;
    prefix: string;
    afterKey: string;
    afterOrderKey: number | null;
    limit: number;
  }): Promise<readonly AgingVersion[]>;
  /** Open uploads of all buckets that began before a time, oldest first, after the given one. */
  uploadsBefore(input: {
    beforeMs: number;
    after: { initiatedAtMs: number; uploadId: string };
    limit: number;
  }): Promise<readonly UploadRecord[]>;
}
