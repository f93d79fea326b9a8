import type { BucketRecord, ObjectAttributes, UploadRecord } from './records.ts';

/** One version as the rules of a bucket look at it. */
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

export interface LifecycleQueries {
  /** Active buckets with rules, by id. */
  bucketsWithLifecycle(input: { afterBucketId: number; limit: number }): Promise<readonly BucketRecord[]>;
  /** All versions by key and newest first, behind one of them; `afterOrderKey` null: behind all of that key. */
  agingVersions(input: {
    bucketId: number;
    prefix: string;
    afterKey: string;
    afterOrderKey: number | null;
    limit: number;
  }): Promise<readonly AgingVersion[]>;
  /** Open uploads of all buckets that began before a time, the oldest first, behind the one that is named. */
  uploadsBefore(input: {
    beforeMs: number;
    after: { initiatedAtMs: number; uploadId: string };
    limit: number;
  }): Promise<readonly UploadRecord[]>;
}
