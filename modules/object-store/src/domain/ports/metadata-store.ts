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
  ObjectEncryption,
  ObjectSummary,
  ObjectVersion,
  PartRecord,
  WriteQuota,
  Versioning,
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

/** An entity tag without quotes, or `*`. Decided against the newest version, inside the transaction. */
export interface WriteConditions {
  ifMatch?: readonly string[];
  ifNoneMatch?: readonly string[];
}

export interface CreateBucket {
  id: number;
  name: string;
  workspaceUuid: string;
  nowMs: number;
  encryptionMode: EncryptionMode;
  locationHint: string | null;
  /** Keeps versions from the start, and may lock them. */
  objectLock?: boolean;
  /** Most buckets of the workspace and of its owner. */
  tenant: Limits;
}

export interface DeleteBucket {
  bucketId: number;
  nowMs: number;
  trashDueAtMs: number;
}

/** Bytes that are already on stable storage, or small enough to be stored with the row. */
export type NewContent =
  | { kind: 'empty' }
  | { kind: 'inline'; data: Uint8Array }
  /**
   * `crc64nvme`: of the bytes as they are stored, hexadecimal; absent where the blob is known already. `storedBytes`: where
   * that is not the length of the content, because it is encrypted.
   */
  | { kind: 'blob'; blobId: string; crc64nvme?: string; storedBytes?: number };

export interface PutObject {
  bucketId: number;
  key: string;
  nowMs: number;
  /** Random tail of the version id, should the bucket keep versions. */
  versionToken: string;
  content: NewContent;
  sizeBytes: number;
  etag: string;
  attributes: ObjectAttributes;
  checksum: ObjectChecksum | null;
  conditions: WriteConditions;
  trashDueAtMs: number;
  /** `QuotaExceeded` where it would be over. */
  quota?: WriteQuota;
  notify?: NotifyRule;
  /** Default: `ObjectCreated:Put`. */
  eventName?: EventName;
}

export interface PutBucketDocument {
  bucketId: number;
  name: BucketDocumentName;
  document: string | null;
  nowMs: number;
}

export interface ReplaceBucketDocuments {
  bucketId: number;
  /** The `configurationVersion` that the change was made from. */
  ifVersion: number;
  documents: readonly { name: BucketDocumentName; document: string | null }[];
  nowMs: number;
}

export interface SetBucketEncryption {
  bucketId: number;
  encryptionMode: EncryptionMode;
  document: string | null;
  nowMs: number;
}

export interface ChangeAttributes {
  bucketId: number;
  key: string;
  /** Absent: the newest. */
  versionId?: string;
  changes: AttributeChanges;
  /** With a change of the retention: what holds now, and whether governance may be overruled. */
  nowMs?: number;
  bypassGovernance?: boolean;
}

export interface StoredVersion {
  /** `null` is the version of a bucket that keeps none. */
  versionId: string;
  etag: string;
  sizeBytes: number;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
  /** Of an object made of parts, whose writer may not know. */
  encryption?: ObjectEncryption;
}

export interface DeleteObject {
  bucketId: number;
  key: string;
  /** Absent: the newest is deleted, or covered by a delete marker where versions are kept. */
  versionId?: string;
  nowMs: number;
  versionToken: string;
  trashDueAtMs: number;
  conditions: DeleteConditions;
  /** Removes what is only retained under governance. */
  bypassGovernance?: boolean;
  notify?: NotifyRule;
  /** Lifecycle removes it, and nobody asked. */
  expires?: boolean;
  /** For a delete marker that covers nothing. */
  quota?: WriteQuota;
}

export interface DeletedObject {
  /** The version that went, or the delete marker that came; null where the bucket keeps no versions. */
  versionId: string | null;
  deleteMarker: boolean;
}

export interface TrashEntry {
  kind: 'blob' | 'manifest';
  contentId: string;
}

export type BlobState = 'good' | 'damaged' | 'missing';

/** What is known of a blob by itself. */
export interface BlobRecord {
  blobId: string;
  sizeBytes: number;
  /** Of the bytes as they are stored, hexadecimal; null until the first scrub where it came without. */
  crc64nvme: string | null;
  state: BlobState;
  verifiedAtMs: number;
}

export interface VerifiedBlob {
  blobId: string;
  state: BlobState;
  /** What was computed, kept where none is known yet. */
  crc64nvme: string | null;
}

/** Each is one transaction: all of it is on stable storage when the promise resolves, or nothing of it ever shows. */
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
  /** Also provisions the workspace's store. `BucketAlreadyOwnedByYou`, `BucketAlreadyExists`, `TooManyBuckets`. */
  createBucket(input: CreateBucket): Promise<BucketRecord>;
  /** For a bucket without objects; its unfinished uploads end. `NoSuchBucket`, `BucketNotEmpty`. */
  deleteBucket(input: DeleteBucket): Promise<void>;
  /** Hides the bucket with all it holds, and keeps both until `purgeAtMs`; the name stays taken. `NoSuchBucket`. */
  softDeleteBucket(input: { bucketId: number; nowMs: number; purgeAtMs: number }): Promise<BucketRecord>;
  /** `NoSuchBucket` when there is none or its time is over, `InvalidBucketState` for an active one. */
  restoreBucket(input: { name: string; workspaceUuid: string; nowMs: number }): Promise<BucketRecord>;
  /** Removes some of a bucket whose time is over; true when nothing of it is left. */
  purgeBucket(input: { bucketId: number; nowMs: number; limit: number; trashDueAtMs: number }): Promise<boolean>;
  /** Null removes the document. `NoSuchBucket`. */
  putBucketDocument(input: PutBucketDocument): Promise<void>;
  /** All of them or, when the configuration changed since `ifVersion`, none: false. `NoSuchBucket`. */
  replaceBucketDocuments(input: ReplaceBucketDocuments): Promise<boolean>;
  /** The mode in the bucket's row and the document behind it, together; null removes the document. `NoSuchBucket`. */
  setBucketEncryption(input: SetBucketEncryption): Promise<void>;
  /** `NoSuchBucket`, `InvalidBucketState` where object lock needs the versions. */
  setVersioning(input: { bucketId: number; versioning: Exclude<Versioning, 'unversioned'> }): Promise<void>;
  /** Changes what can change of a version in place. `NoSuchBucket`, `NoSuchKey`, `NoSuchVersion`, `MethodNotAllowed`. */
  changeAttributes(input: ChangeAttributes): Promise<ObjectVersion>;
  /** `NoSuchBucket`, `NoSuchKey`, `PreconditionFailed`. */
  putObject(input: PutObject): Promise<StoredVersion>;
  /** Deleting what is not there succeeds. `NoSuchBucket`, `PreconditionFailed`. */
  deleteObject(input: DeleteObject): Promise<DeletedObject>;
  /**
   * The blobs of `removed` are gone; a manifest's part rows go with it. What turned out to be needed after all is `kept`:
   * it leaves the trash and nothing else.
   */
  forgetTrash(input: { removed: readonly TrashEntry[]; kept: readonly TrashEntry[] }): Promise<void>;
  /** What of a workspace's trash waits for its grace may go now; at most `limit` entries. */
  hastenTrash(input: {
    workspaceUuid: string;
    nowMs: number;
    limit: number;
  }): Promise<{ entries: number; bytes: number }>;
  /** Some of a manifest's parts were let go of: their rows go, and what is known of the blobs that were removed. */
  forgetManifestParts(input: {
    manifestId: string;
    throughPartNumber: number;
    removedBlobs: readonly string[];
  }): Promise<void>;
  /** What a scrub found. */
  noteVerified(input: { blobs: readonly VerifiedBlob[]; nowMs: number }): Promise<void>;
  /** Until then nothing leaves the trash; the holder says it again while it lasts. */
  holdTrash(input: { holder: string; untilMs: number }): Promise<void>;
  releaseTrash(input: { holder: string }): Promise<void>;
  setStoreProperty(input: { name: string; value: string }): Promise<void>;
  /** Completed uploads are remembered so that a repeated completion gets its answer; older ones are forgotten here. */
  forgetCompletedUploads(input: { beforeMs: number; limit: number }): Promise<number>;
}

export interface ListObjects {
  bucketId: number;
  /** True for buckets that keep versions: those have rows that a listing must step over. */
  versioned: boolean;
  prefix: string;
  /** Empty: none. */
  delimiter: string;
  /** Only keys and common prefixes strictly after this, in the byte order of UTF-8. Empty: from the start. */
  after: string;
  limit: number;
  /** True: with the `details` of each object, for people rather than for programs. */
  detailed?: boolean;
}

export interface ObjectPage {
  objects: readonly ObjectSummary[];
  commonPrefixes: readonly string[];
  truncated: boolean;
  /** The last key or common prefix of this page, to be given as `after`; null on the last page. */
  next: string | null;
}

export interface FoundObject {
  version: ObjectVersion;
  /** The bytes of an inline object, whole. */
  inline: Uint8Array | null;
}

/** Each reads one consistent state, does bounded work and holds nothing open when it has resolved. */
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
  /** Also a soft-deleted one. */
  findBucketById(input: { bucketId: number }): Promise<BucketRecord | null>;
  listBuckets(input: {
    workspaceUuid: string;
    prefix: string;
    after: string;
    limit: number;
  }): Promise<readonly (BucketRecord & BucketUsage)[]>;
  bucketDocuments(input: { bucketId: number }): Promise<Readonly<Partial<Record<BucketDocumentName, string>>>>;
  /** All active buckets of a workspace together. */
  workspaceUsage(input: { workspaceUuid: string }): Promise<BucketUsage & { buckets: number }>;
  /** What counts against the quotas of a workspace, by name. */
  quotaUsage(input: { workspaceUuid: string }): Promise<Usage>;
  /** Soft-deleted ones, the latest first. */
  listDeletedBuckets(input: { workspaceUuid: string; nowMs: number; limit: number }): Promise<readonly BucketRecord[]>;
  bucketsToPurge(input: { nowMs: number; limit: number }): Promise<readonly number[]>;
  /** Without a version: the newest, which may be a delete marker. */
  findObject(input: { bucketId: number; key: string; versionId?: string }): Promise<FoundObject | null>;
  listObjects(input: ListObjects): Promise<ObjectPage>;
  /** The parts that hold bytes of the range, in order, at most `limit`. */
  manifestParts(input: {
    manifestId: string;
    start: number;
    endExclusive: number;
    limit: number;
  }): Promise<readonly ManifestPart[]>;
  /** The first parts of a manifest, whether completed or not; `shared` where something else needs the blob too. */
  manifestBlobs(input: {
    manifestId: string;
    limit: number;
  }): Promise<readonly { partNumber: number; blobId: string; shared: boolean }[]>;
  /** Without the part's bytes: for `?partNumber=`. */
  findManifestPart(input: { manifestId: string; partNumber: number }): Promise<(ManifestPart & PartRecord) | null>;
  dueTrash(input: { nowMs: number; limit: number }): Promise<readonly TrashEntry[]>;
  /** Whether any row (object, part, trash) knows this blob. */
  isBlobKnown(input: { blobId: string }): Promise<boolean>;
  /** Whether a live object or upload needs it; what only the trash knows is not needed. */
  isContentNeeded(input: TrashEntry): Promise<boolean>;
  /** Blobs that live rows need, in order of id, for `fsck`. */
  neededBlobs(input: { after: string; limit: number }): Promise<readonly { blobId: string; storedBytes: number }[]>;
  /** Those that were verified before a time, the longest ago first. */
  blobsToVerify(input: { beforeMs: number; limit: number }): Promise<readonly BlobRecord[]>;
  /** What a scrub found damaged or missing, in order of id. */
  blobsNotGood(input: { after: string; limit: number }): Promise<readonly BlobRecord[]>;
  findBlob(input: { blobId: string }): Promise<BlobRecord | null>;
  /** Which versions hold its bytes, for whoever has to tell their owners. */
  objectsOfBlob(input: {
    blobId: string;
    limit: number;
  }): Promise<readonly { bucket: string; key: string; versionId: string }[]>;
  isTrashHeld(input: { nowMs: number }): Promise<boolean>;
  storeProperty(input: { name: string }): Promise<string | null>;
  /** Counters that differ from what the rows add up to, for `fsck`. */
  usageDrift(input: { after: number; limit: number }): Promise<readonly UsageDrift[]>;
}

export interface UsageDrift {
  bucketId: number;
  counted: BucketCounters;
  actual: BucketCounters;
}

/** Everything that is counted of a bucket. */
export interface BucketCounters extends BucketUsage {
  markerCount: number;
  uploadCount: number;
  uploadBytes: number;
}

/** What the store knows. One contract suite runs on every implementation. */
export interface MetadataStore extends MetadataCommands, MetadataQueries {
  /** Resolves when every transaction that began before has ended, whichever replica began it. */
  settle(): Promise<void>;
  /** Throws what is wrong when it can neither read nor write now. */
  check(): Promise<void>;
  /** Ends after the last answered command is on disk. */
  close(): Promise<void>;
}
