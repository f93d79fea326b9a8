import type { Limits } from '@svc/quotas';
import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts';

export type Versioning = 'unversioned' | 'enabled' | 'suspended';
export type EncryptionMode = 'none' | 'sse-s3';
export type BucketState = 'active' | 'soft-deleted';

export interface BucketRecord {
  /** Random 48-bit number; names can come back, ids never do. */
  id: number;
  name: string;
  workspaceUuid: string;
  createdAtMs: number;
  state: BucketState;
  deletedAtMs: number | null;
  purgeAtMs: number | null;
  versioning: Versioning;
  encryptionMode: EncryptionMode;
  locationHint: string | null;
  /** Grows with every change to the bucket's documents. */
  configurationVersion: number;
}

/** What a bucket can be configured with; each is one JSON document of the kind's own shape. */
export const BUCKET_DOCUMENT_NAMES = [
  'access-control-list',
  'cors',
  'encryption',
  'lifecycle',
  'logging',
  'notification',
  'object-lock',
  'ownership-controls',
  'policy',
  'public-access-block',
  'request-payment',
  'settings',
  'tagging',
  'website',
] as const;

export type BucketDocumentName = (typeof BUCKET_DOCUMENT_NAMES)[number];

export interface BucketUsage {
  objectCount: number;
  sizeBytes: number;
}

/** Decided on the counters inside of the transaction; null: no limit. */
export interface BucketQuota {
  maxBytes: number | null;
  maxObjects: number | null;
}

/** What a write is held against, in its transaction. */
export interface WriteQuota {
  bucket?: BucketQuota;
  /** Limits of the workspace and its owner. */
  tenant?: Limits;
}

/** What the client said about the bytes, kept and given back as it came. */
export interface ObjectAttributes {
  contentType: string;
  /** `cache-control`, `content-disposition`, `content-encoding`, `content-language`, `expires`. */
  headers?: Readonly<Record<string, string>>;
  /** `x-amz-meta-*` without the prefix. */
  metadata?: Readonly<Record<string, string>>;
  storageClass?: string;
  tags?: Readonly<Record<string, string>>;
  /** JSON; absent: private to the owner. */
  accessControlList?: string;
  /** Object lock: no version goes before this time. */
  retention?: ObjectRetention;
  /** Object lock: no version goes while this holds. */
  legalHold?: boolean;
  websiteRedirectLocation?: string;
  /** Absent: the bytes are stored as they came. */
  encryption?: ObjectEncryption;
}

/** How the bytes are sealed, and the data key under a key that is not beside it. */
export interface ObjectEncryption {
  mode: 'sse-s3' | 'sse-c' | 'sse-kms';
  sealedKey: string;
  /** The name of the store's own key, for `sse-kms`. */
  keyId?: string;
}

export interface ObjectRetention {
  mode: 'GOVERNANCE' | 'COMPLIANCE';
  untilMs: number;
}

/** What of a stored version can change; null removes it. */
export interface AttributeChanges {
  tags?: Readonly<Record<string, string>> | null;
  accessControlList?: string | null;
  retention?: ObjectRetention | null;
  legalHold?: boolean | null;
}

export interface ObjectChecksum {
  algorithm: ChecksumAlgorithm;
  type: ChecksumType;
  /** Base64, with `-N` for a composite one of N parts. */
  value: string;
}

/** Where an object's bytes are. An empty object has none of the three. */
export type ContentLocation =
  | { kind: 'empty' }
  | { kind: 'inline'; inlineId: number }
  | { kind: 'blob'; blobId: string }
  | { kind: 'manifest'; manifestId: string };

export interface ObjectVersion {
  bucketId: number;
  key: string;
  versionId: string;
  isLatest: boolean;
  deleteMarker: boolean;
  sizeBytes: number;
  /** Without quotes. */
  etag: string;
  modifiedAtMs: number;
  attributes: ObjectAttributes;
  checksum: ObjectChecksum | null;
  /** How many parts it was uploaded in; null for a single PUT. */
  partCount: number | null;
  location: ContentLocation;
}

/** One line of a listing; nothing that a page of a thousand does not need. */
export interface ObjectSummary {
  key: string;
  sizeBytes: number;
  etag: string;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
  /** Only where a listing asked for them. */
  details?: ObjectDetails;
}

export interface ObjectDetails {
  versionId: string;
  contentType: string;
  /** Absent: private to the bucket's owner. */
  accessControlList?: string;
}

export interface ManifestPart {
  partNumber: number;
  blobId: string;
  /** Where in the blob it begins: parts that were copied are ranges of what others wrote. */
  blobOffset: number;
  sizeBytes: number;
  startOffset: number;
}

export interface PartRecord {
  partNumber: number;
  sizeBytes: number;
  etag: string;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
}

export interface UploadRecord {
  uploadId: string;
  bucketId: number;
  key: string;
  initiatedAtMs: number;
  initiator: string;
  attributes: ObjectAttributes;
  checksumAlgorithm: ChecksumAlgorithm | null;
  checksumType: ChecksumType | null;
}

export type KeyPermission = 'read' | 'write' | 'admin';

/** Who created an access key. The key never gives more than its maker may do. */
export interface KeyMaker {
  /** The user or service account. */
  principalId: string;
  /** The API token or service account that was used; null for a sign-in. Deleting it ends the key. */
  tokenId: string | null;
  kind: 'user' | 'service_account' | 'guest';
  /** An e-mail or a name as it was then; empty for keys from before it was kept. */
  name: string;
}

export interface AccessKeyRecord {
  accessKeyId: string;
  workspaceUuid: string;
  label: string;
  permissions: readonly KeyPermission[];
  /** Names of buckets, or null for all. */
  buckets: readonly string[] | null;
  /** The secret under the master key; never leaves the store in the clear after it was made. */
  sealedSecret: string;
  createdAtMs: number;
  createdBy: KeyMaker;
  expiresAtMs: number | null;
  lastUsedAtMs: number | null;
}
