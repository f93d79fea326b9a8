import type { Limits, Usage } from '@svc/quotas';
import type { AccessKeyCommands, AccessKeyQueries } from './access-keys.ts';
import type { DomainCommands, DomainQueries } from './custom-domains.ts';
import type { EventName } from '../notifications/event-names.ts';
import type { NotificationCommands, NotificationQueries, NotifyRule } from './notifications.ts';
import type {
  AttributeChanges,
  BucketDocumentName,
  BucketRecord,
  BucketUsage,
  EncryptionMode,
  ManifestPart,
  ObjectAttributes,
  ObjectChecksum,
  ObjectSummary,
  ObjectVersion,
  PartRecord,
  StoredVersion,
  Versioning,
  WriteConditions,
  WriteQuota,
} from './records.ts';
import type { DeleteConditions } from './delete-conditions.ts';
import type { KeyRingCommands, KeyRingQueries } from './key-ring.ts';
import type { LifecycleQueries } from './lifecycle-metadata.ts';
import type { CopyCommands } from './copy-commands.ts';
import type { UploadCommands } from './upload-commands.ts';
import type { UploadQueries } from './upload-queries.ts';
import type { UsageHistoryCommands, UsageHistoryQueries } from './usage-history.ts';
import type { VersionQueries } from './version-listing.ts';
import type { WorkLeaseCommands } from './work-leases.ts';

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

/** Input of `putBucketDocument`. */
export interface PutBucketDocument {
  bucketId: number;
  name: BucketDocumentName;
  document: string | null;
  nowMs: number;
}

/** Input of `replaceBucketDocuments`. */
export interface ReplaceBucketDocuments {
  bucketId: number;
  /** The `configurationVersion` that the change is based on. */
  ifVersion: number;
  documents: readonly { name: BucketDocumentName; document: string | null }[];
  nowMs: number;
}

/** Input of `setBucketEncryption`. */
export interface SetBucketEncryption {
  bucketId: number;
  encryptionMode: EncryptionMode;
  document: string | null;
  nowMs: number;
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

/** Content in the trash: one blob, or a manifest with all of its parts. */
export interface TrashEntry {
  kind: 'blob' | 'manifest';
  contentId: string;
}

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

/** Each command is one transaction: on stable storage in full when the promise resolves, or not visible at all. */
export interface MetadataCommands
  extends
    AccessKeyCommands,
    NotificationCommands,
    DomainCommands,
    CopyCommands,
    UploadCommands,
    UsageHistoryCommands,
    WorkLeaseCommands,
    KeyRingCommands {
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
  /** Null removes the document. Throws `NoSuchBucket`. */
  putBucketDocument(input: PutBucketDocument): Promise<void>;
  /**
   * Replaces all documents or, if the configuration changed since `ifVersion`, none, and returns false. Throws
   * `NoSuchBucket`.
   */
  replaceBucketDocuments(input: ReplaceBucketDocuments): Promise<boolean>;
  /** Sets the mode in the bucket's row and its document together. Null removes the document. Throws `NoSuchBucket`. */
  setBucketEncryption(input: SetBucketEncryption): Promise<void>;
  /** Throws `NoSuchBucket`, or `InvalidBucketState` if object lock requires versioning. */
  setVersioning(input: { bucketId: number; versioning: Exclude<Versioning, 'unversioned'> }): Promise<void>;
  /**
   * Changes the mutable attributes of a version. Throws `NoSuchBucket`, `NoSuchKey`, `NoSuchVersion` or
   * `MethodNotAllowed`.
   */
  changeAttributes(input: ChangeAttributes): Promise<ObjectVersion>;
  /** Throws `NoSuchBucket`, `NoSuchKey` or `PreconditionFailed`. */
  putObject(input: PutObject): Promise<StoredVersion>;
  /** Deleting a missing object succeeds. Throws `NoSuchBucket` or `PreconditionFailed`. */
  deleteObject(input: DeleteObject): Promise<DeletedObject>;
  /**
   * Deletes trash entries. The content of `removed` entries has been removed; the part rows of manifests are deleted
   * with them. `kept` entries are still needed and only leave the trash.
   */
  forgetTrash(input: { removed: readonly TrashEntry[]; kept: readonly TrashEntry[] }): Promise<void>;
  /** Makes up to `limit` of a workspace's trash entries due now. */
  hastenTrash(input: {
    workspaceUuid: string;
    nowMs: number;
    limit: number;
  }): Promise<{ entries: number; bytes: number }>;
  /** Deletes the rows of removed manifest parts, and the records of removed blobs. */
  forgetManifestParts(input: {
    manifestId: string;
    throughPartNumber: number;
    removedBlobs: readonly string[];
  }): Promise<void>;
  /** Stores the results of a scrub. */
  noteVerified(input: { blobs: readonly VerifiedBlob[]; nowMs: number }): Promise<void>;
  /** Keeps everything in the trash until then. The holder must renew it. */
  holdTrash(input: { holder: string; untilMs: number }): Promise<void>;
  releaseTrash(input: { holder: string }): Promise<void>;
  setStoreProperty(input: { name: string; value: string }): Promise<void>;
  /** Completed uploads are remembered so that a repeated completion gets the same response. Deletes older ones. */
  forgetCompletedUploads(input: { beforeMs: number; limit: number }): Promise<number>;
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

/** Each query reads one consistent state, does bounded work and holds no resources after it resolves. */
export interface MetadataQueries
  extends
    AccessKeyQueries,
    NotificationQueries,
    UploadQueries,
    UsageHistoryQueries,
    VersionQueries,
    DomainQueries,
    LifecycleQueries,
    KeyRingQueries {
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
  bucketDocuments(input: { bucketId: number }): Promise<Readonly<Partial<Record<BucketDocumentName, string>>>>;
  /** Totals of all active buckets of a workspace. */
  workspaceUsage(input: { workspaceUuid: string }): Promise<BucketUsage & { buckets: number }>;
  /** Usage that counts toward a workspace's quotas, by name. */
  quotaUsage(input: { workspaceUuid: string }): Promise<Usage>;
  /** Soft-deleted buckets, latest first. */
  listDeletedBuckets(input: { workspaceUuid: string; nowMs: number; limit: number }): Promise<readonly BucketRecord[]>;
  bucketsToPurge(input: { nowMs: number; limit: number }): Promise<readonly number[]>;
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
  /** The first parts of a manifest, completed or not. `shared` if something else also needs the blob. */
  manifestBlobs(input: {
    manifestId: string;
    limit: number;
  }): Promise<readonly { partNumber: number; blobId: string; shared: boolean }[]>;
  /** A part's record without its bytes, for `?partNumber=`. */
  findManifestPart(input: { manifestId: string; partNumber: number }): Promise<(ManifestPart & PartRecord) | null>;
  dueTrash(input: { nowMs: number; limit: number }): Promise<readonly TrashEntry[]>;
  /** Whether any row (object, part, trash) refers to this blob. */
  isBlobKnown(input: { blobId: string }): Promise<boolean>;
  /** Whether a live object or upload needs it. The trash does not count. */
  isContentNeeded(input: TrashEntry): Promise<boolean>;
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
  isTrashHeld(input: { nowMs: number }): Promise<boolean>;
  storeProperty(input: { name: string }): Promise<string | null>;
  /** Counters that differ from the sums of their rows, for `fsck`. */
  usageDrift(input: { after: number; limit: number }): Promise<readonly UsageDrift[]>;
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

/** The store's metadata. Every implementation passes the same contract suite. */
export interface MetadataStore extends MetadataCommands, MetadataQueries {
  /** Resolves once every transaction that began earlier has ended, on any replica. */
  settle(): Promise<void>;
  /** Throws an error with the reason if the store can neither read nor write now. */
  check(): Promise<void>;
  /** Resolves after the last acknowledged command is on disk. */
  close(): Promise<void>;
}
