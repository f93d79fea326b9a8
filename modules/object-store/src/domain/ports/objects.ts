import type { EventName } from '../notifications/event-names.ts';
import type { DeleteConditions } from './delete-conditions.ts';
import type { NotifyRule } from './notifications.ts';
import type {
  AttributeChanges,
  ManifestPart,
  ObjectAttributes,
  ObjectChecksum,
  ObjectSummary,
  ObjectVersion,
  PartRecord,
  StoredVersion,
  WriteConditions,
  WriteQuota,
} from './records.ts';

/** Bytes that are on stable storage, or small enough to be stored with the row. */
export type NewContent =
  | { kind: 'empty' }
  | { kind: 'inline'; data: Uint8Array }
  /**
   * `crc64nvme`: checksum of the stored bytes, hexadecimal; absent if the blob is known already. `storedBytes`: set if
   * it differs from the content's size because of encryption.
   */
  | { kind: 'blob'; blobId: string; crc64nvme?: string; storedBytes?: number };

/** Input of `putObject`. */
export interface PutObject {
  bucketId: number;
  key: string;
  nowMs: number;
  /** Random suffix of the version id, if the bucket is versioned. */
  versionToken: string;
  content: NewContent;
  sizeBytes: number;
  etag: string;
  attributes: ObjectAttributes;
  checksum: ObjectChecksum | null;
  conditions: WriteConditions;
  trashDueAtMs: number;
  /** Throws `QuotaExceeded` if the write would exceed it. */
  quota?: WriteQuota;
  notify?: NotifyRule;
  /** Defaults to `ObjectCreated:Put`. */
  eventName?: EventName;
}

/** Input of `changeAttributes`. */
export interface ChangeAttributes {
  bucketId: number;
  key: string;
  /** Defaults to the current version. */
  versionId?: string;
  changes: AttributeChanges;
  /** For a change of retention: the current time, and whether governance mode may be bypassed. */
  nowMs?: number;
  bypassGovernance?: boolean;
}

/** Input of `deleteObject`. */
export interface DeleteObject {
  bucketId: number;
  key: string;
  /** If absent, the current version is deleted, or hidden by a delete marker in a versioned bucket. */
  versionId?: string;
  nowMs: number;
  versionToken: string;
  trashDueAtMs: number;
  conditions: DeleteConditions;
  /** Also deletes a version retained in governance mode. */
  bypassGovernance?: boolean;
  notify?: NotifyRule;
  /** Deleted by a lifecycle rule, not by a request. */
  expires?: boolean;
  /** For a delete marker on a key without versions. */
  quota?: WriteQuota;
}

/** Result of `deleteObject`. */
export interface DeletedObject {
  /** The deleted version, or the new delete marker. Null in an unversioned bucket. */
  versionId: string | null;
  deleteMarker: boolean;
}

/** Input of `listObjects`. */
export interface ListObjects {
  bucketId: number;
  /** True for versioned buckets, whose listings must skip noncurrent rows. */
  versioned: boolean;
  prefix: string;
  /** Empty for none. */
  delimiter: string;
  /** Only keys and common prefixes strictly after this, in UTF-8 byte order. Empty to start at the beginning. */
  after: string;
  limit: number;
  /** Includes the `details` of each object. */
  detailed?: boolean;
}

/** A page of a listing. */
export interface ObjectPage {
  objects: readonly ObjectSummary[];
  commonPrefixes: readonly string[];
  truncated: boolean;
  /** Last key or common prefix of this page, to pass as `after`. Null on the last page. */
  next: string | null;
}

/** A version, with its bytes if they are inline. */
export interface FoundObject {
  version: ObjectVersion;
  /** The complete bytes of an inline object. */
  inline: Uint8Array | null;
}

/** Commands on objects and their versions. Each is one transaction. */
export interface ObjectCommands {
  /** Throws `NoSuchBucket`, `NoSuchKey` or `PreconditionFailed`. */
  putObject(input: PutObject): Promise<StoredVersion>;
  /**
   * Changes the mutable attributes of a version. Throws `NoSuchBucket`, `NoSuchKey`, `NoSuchVersion` or
   * `MethodNotAllowed`.
   */
  changeAttributes(input: ChangeAttributes): Promise<ObjectVersion>;
  /** Deleting a missing object succeeds. Throws `NoSuchBucket` or `PreconditionFailed`. */
  deleteObject(input: DeleteObject): Promise<DeletedObject>;
}

/** Queries of objects and their versions. */
export interface ObjectQueries {
  /** Without `versionId`, finds the current version, which may be a delete marker. */
  findObject(input: { bucketId: number; key: string; versionId?: string }): Promise<FoundObject | null>;
  listObjects(input: ListObjects): Promise<ObjectPage>;
  /** Up to `limit` parts that overlap the range, in order. */
  manifestParts(input: {
    manifestId: string;
    start: number;
    endExclusive: number;
    limit: number;
  }): Promise<readonly ManifestPart[]>;
  /** A part's record without its bytes, for `?partNumber=`. */
  findManifestPart(input: { manifestId: string; partNumber: number }): Promise<(ManifestPart & PartRecord) | null>;
}
