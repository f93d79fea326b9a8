import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts';
import type { SourceVersion } from './copy-commands.ts';
import type { WriteConditions } from './records.ts';
import type { StoredVersion } from './records.ts';
import type { NotifyRule } from './notifications.ts';
import type { ObjectAttributes, ObjectChecksum, WriteQuota } from './records.ts';

/** Input of `createUpload`. */
export interface CreateUpload {
  uploadId: string;
  bucketId: number;
  key: string;
  nowMs: number;
  initiator: string;
  attributes: ObjectAttributes;
  checksumAlgorithm: ChecksumAlgorithm | null;
  checksumType: ChecksumType | null;
  quota?: WriteQuota;
}

/** Input of `putPart`. */
export interface PutPart {
  uploadId: string;
  bucketId: number;
  key: string;
  partNumber: number;
  blobId: string;
  /** Set if the part is a range of a stored version: the offset in the blob, and the source. */
  copied?: { blobOffset: number; source: SourceVersion };
  /** Checksum of the stored bytes, hexadecimal. */
  crc64nvme?: string;
  storedBytes?: number;
  sizeBytes: number;
  etag: string;
  checksum: ObjectChecksum | null;
  nowMs: number;
  trashDueAtMs: number;
  /** Checked against the bucket's current usage plus this part. The whole object is counted on completion. */
  quota?: WriteQuota;
}

/** A part as named by the client on completion. */
export interface CompletedPart {
  partNumber: number;
  etag: string;
  /** Base64, if the client repeated it. */
  checksum?: string;
  checksumAlgorithm?: ChecksumAlgorithm;
}

/** If a part is named several times in a row, the last one counts. */
export function lastNamed(parts: readonly CompletedPart[]): readonly CompletedPart[] {
  return parts.filter(({ partNumber }, index) => partNumber !== parts[index + 1]?.partNumber);
}

/** Each value is verified against the assembled parts. */
export interface ExpectedObject {
  checksum?: { algorithm: ChecksumAlgorithm; value: string };
  checksumType?: ChecksumType;
  sizeBytes?: number;
}

/** Input of `completeUpload`. */
export interface CompleteUpload {
  uploadId: string;
  bucketId: number;
  key: string;
  parts: readonly CompletedPart[];
  /** What the client declares about the whole object. */
  expected: ExpectedObject;
  /** Checksum of the part checksums, if the client named them all and the upload wants one. */
  composite?: ObjectChecksum;
  nowMs: number;
  versionToken: string;
  minPartBytes: number;
  maxObjectBytes: number;
  conditions: WriteConditions;
  trashDueAtMs: number;
  quota?: WriteQuota;
  notify?: NotifyRule;
}

/** Input of `abortUpload`. */
export interface AbortUpload {
  uploadId: string;
  bucketId: number;
  key: string;
  trashDueAtMs: number;
}

/** Multipart uploads. */
export interface UploadCommands {
  createUpload(input: CreateUpload): Promise<void>;
  /** Repeating a part number replaces the part. Throws `NoSuchUpload`. */
  putPart(input: PutPart): Promise<void>;
  /**
   * Changes metadata only. Repeating it with the same parts returns the same result. Throws `NoSuchUpload`,
   * `InvalidPart…` or `EntityTooSmall`.
   */
  completeUpload(input: CompleteUpload): Promise<StoredVersion>;
  abortUpload(input: AbortUpload): Promise<void>;
  /** Completed uploads are remembered so that a repeated completion gets the same response. Deletes older ones. */
  forgetCompletedUploads(input: { beforeMs: number; limit: number }): Promise<number>;
}
