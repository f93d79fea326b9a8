import type { BucketUsage } from './records.ts';

/** The state of a blob as of its last scrub. */
export type BlobState = 'good' | 'damaged' | 'missing';

/** Properties of a blob itself. */
export interface BlobRecord {
  blobId: string;
  sizeBytes: number;
  /** Checksum of the stored bytes, hexadecimal. Null until the first scrub for a blob that came without one. */
  crc64nvme: string | null;
  state: BlobState;
  verifiedAtMs: number;
}

/** A scrub's result for one blob. */
export interface VerifiedBlob {
  blobId: string;
  state: BlobState;
  /** The computed checksum, stored if none is known yet. */
  crc64nvme: string | null;
}

/** A bucket whose counters differ from the sums of its rows. */
export interface UsageDrift {
  bucketId: number;
  counted: BucketCounters;
  actual: BucketCounters;
}

/** All counters of a bucket. */
export interface BucketCounters extends BucketUsage {
  markerCount: number;
  uploadCount: number;
  uploadBytes: number;
}

/** Commands on blobs, and the consistency of rows and bytes. Each is one transaction. */
export interface BlobCommands {
  /** Stores the results of a scrub. */
  noteVerified(input: { blobs: readonly VerifiedBlob[]; nowMs: number }): Promise<void>;
  /**
   * Gives a blob up whose write never ended. Returns true if no row refers to it; from then on none can, however late
   * its writer is, so its bytes may be removed at any time.
   */
  condemnBlob(input: { blobId: string }): Promise<boolean>;
}

/** Queries of blobs, and the consistency of rows and bytes. */
export interface BlobQueries {
  /** Whether any row (object, part, trash) refers to this blob. */
  isBlobKnown(input: { blobId: string }): Promise<boolean>;
  /** Blobs that live rows need, by id, for `fsck`. */
  neededBlobs(input: { after: string; limit: number }): Promise<readonly { blobId: string; storedBytes: number }[]>;
  /** Blobs verified before a time, least recently verified first. */
  blobsToVerify(input: { beforeMs: number; limit: number }): Promise<readonly BlobRecord[]>;
  /** Blobs that a scrub found damaged or missing, by id. */
  blobsNotGood(input: { after: string; limit: number }): Promise<readonly BlobRecord[]>;
  findBlob(input: { blobId: string }): Promise<BlobRecord | null>;
  /** Versions that hold the blob's bytes, so that their owners can be notified. */
  objectsOfBlob(input: {
    blobId: string;
    limit: number;
  }): Promise<readonly { bucket: string; key: string; versionId: string }[]>;
  /** Counters that differ from the sums of their rows, for `fsck`. */
  usageDrift(input: { after: number; limit: number }): Promise<readonly UsageDrift[]>;
}
