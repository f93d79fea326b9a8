import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts';
import type { SourceVersion } from './copy-commands.ts';
import type { StoredVersion, WriteConditions } from './metadata-store.ts';
import type { NotifyRule } from './notifications.ts';
import type { ObjectAttributes, ObjectChecksum, WriteQuota } from './records.ts';

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

export interface PutPart {
  uploadId: string;
  bucketId: number;
  key: string;
  partNumber: number;
  blobId: string;
  /** A range of the bytes of a stored version: where in the blob it begins, and whose bytes they are. */
  copied?: { blobOffset: number; source: SourceVersion };
  /** Of the bytes as they are stored, hexadecimal. */
  crc64nvme?: string;
  storedBytes?: number;
  sizeBytes: number;
  etag: string;
  checksum: ObjectChecksum | null;
  nowMs: number;
  trashDueAtMs: number;
  /** Against what the bucket has and this part; the whole is counted when it is completed. */
  quota?: WriteQuota;
}

export interface CompletedPart {
  partNumber: number;
  etag: string;
  /** Base64, where the client repeated it. */
  checksum?: string;
  checksumAlgorithm?: ChecksumAlgorithm;
}

/** Of a part that is named again right after itself the last counts. */
export function lastNamed(parts: readonly CompletedPart[]): readonly CompletedPart[] {
  return parts.filter(({ partNumber }, index) => partNumber !== parts[index + 1]?.partNumber);
}

/** Each is held against what the parts add up to. */
export interface ExpectedObject {
  checksum?: { algorithm: ChecksumAlgorithm; value: string };
  checksumType?: ChecksumType;
  sizeBytes?: number;
}

export interface CompleteUpload {
  uploadId: string;
  bucketId: number;
  key: string;
  parts: readonly CompletedPart[];
  /** What the client says of the whole object. */
  expected: ExpectedObject;
  /** Of the parts' checksums, where the client named them all; for an upload that wants one. */
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

export interface AbortUpload {
  uploadId: string;
  bucketId: number;
  key: string;
  trashDueAtMs: number;
}

/** Uploads in parts. */
export interface UploadCommands {
  createUpload(input: CreateUpload): Promise<void>;
  /** The same part number again replaces the part. `NoSuchUpload`. */
  putPart(input: PutPart): Promise<void>;
  /** Touches metadata only. Again with the same parts: the same answer. `NoSuchUpload`, `InvalidPart…`, `EntityTooSmall`. */
  completeUpload(input: CompleteUpload): Promise<StoredVersion>;
  abortUpload(input: AbortUpload): Promise<void>;
}
