import type { Limits } from '@svc/quotas';
import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts';

/** A bucket's versioning. Once enabled, it can only be suspended. */
export type Versioning = 'unversioned' | 'enabled' | 'suspended';

/** A bucket's default encryption, as stored in its row. */
export type EncryptionMode = 'none' | 'sse-s3';

/** `forking`: not complete yet, and hidden. `soft-deleted`: hidden, and restorable until `purgeAtMs`. */
export type BucketState = 'forking' | 'active' | 'soft-deleted';

/** A bucket's row. */
export interface BucketRecord {
  /** Random 48-bit number. Names can be reused; ids never are. */
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
  /** Incremented on every change to the bucket's documents. */
  configurationVersion: number;
}

/** A bucket's configuration documents. Each is JSON with its own schema. */
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

/** The name of a configuration document. */
export type BucketDocumentName = (typeof BUCKET_DOCUMENT_NAMES)[number];

/** Number and total size of stored objects. */
export interface BucketUsage {
  objectCount: number;
  sizeBytes: number;
}

/** Checked against the counters inside the transaction. Null means no limit. */
export interface BucketQuota {
  maxBytes: number | null;
  maxObjects: number | null;
}

/** Quotas that a write must stay within, checked in its transaction. */
export interface WriteQuota {
  bucket?: BucketQuota;
  /** Limits of the workspace and its owner. */
  tenant?: Limits;
}

/** What the client specified with the bytes, stored and returned unchanged. */
export interface ObjectAttributes {
  contentType: string;
  /** `cache-control`, `content-disposition`, `content-encoding`, `content-language`, `expires`. */
  headers?: Readonly<Record<string, string>>;
  /** `x-amz-meta-*` without the prefix. */
  metadata?: Readonly<Record<string, string>>;
  storageClass?: string;
  tags?: Readonly<Record<string, string>>;
  /** JSON. If absent, the object is private to the owner. */
  accessControlList?: string;
  /** Object lock: the version cannot be deleted before this time. */
  retention?: ObjectRetention;
  /** Object lock: the version cannot be deleted while this is set. */
  legalHold?: boolean;
  websiteRedirectLocation?: string;
  /** If absent, the bytes are stored unencrypted. */
  encryption?: ObjectEncryption;
}

/** How the bytes are encrypted, and the data key, sealed under a key stored elsewhere. */
export interface ObjectEncryption {
  mode: 'sse-s3' | 'sse-c' | 'sse-kms';
  sealedKey: string;
  /** Name of the store's own key, for `sse-kms`. */
  keyId?: string;
}

/** The retention of a version under object lock. */
export interface ObjectRetention {
  mode: 'GOVERNANCE' | 'COMPLIANCE';
  untilMs: number;
}

/** The mutable attributes of a stored version. Null removes one. */
export interface AttributeChanges {
  tags?: Readonly<Record<string, string>> | null;
  accessControlList?: string | null;
  retention?: ObjectRetention | null;
  legalHold?: boolean | null;
}

/** The checksum of an object or part, as S3 returns it. */
export interface ObjectChecksum {
  algorithm: ChecksumAlgorithm;
  type: ChecksumType;
  /** Base64, with `-N` for a composite checksum of N parts. */
  value: string;
}

/** Where an object's bytes are stored. */
export type ContentLocation =
  | { kind: 'empty' }
  | { kind: 'inline'; inlineId: number }
  | { kind: 'blob'; blobId: string }
  | { kind: 'manifest'; manifestId: string };

/** A version of an object, or a delete marker. */
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
  /** Number of uploaded parts. Null for a single PUT. */
  partCount: number | null;
  location: ContentLocation;
}

/** An entry of a listing, limited to what a page of a thousand needs. */
export interface ObjectSummary {
  key: string;
  sizeBytes: number;
  etag: string;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
  /** Only in detailed listings. */
  details?: ObjectDetails;
}

/** Further properties for detailed listings. */
export interface ObjectDetails {
  versionId: string;
  contentType: string;
  /** If absent, the object is private to the bucket's owner. */
  accessControlList?: string;
  metadata?: Readonly<Record<string, string>>;
}

/** A part of a multipart object: a range of a blob and its place in the object. */
export interface ManifestPart {
  partNumber: number;
  blobId: string;
  /** Offset in the blob. Copied parts are ranges of other blobs. */
  blobOffset: number;
  sizeBytes: number;
  startOffset: number;
}

/** A part as `ListParts` returns it. */
export interface PartRecord {
  partNumber: number;
  sizeBytes: number;
  etag: string;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
}

/** A multipart upload's row. */
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

/** A permission of an access key, as users grant it. */
export type KeyPermission = 'read' | 'write' | 'admin';

/** Creator of an access key. A key never allows more than its creator may do. */
export interface KeyMaker {
  /** The user or service account. */
  principalId: string;
  /** The API token or service account used to create it, which ends the key when deleted. Null for a sign-in. */
  tokenId: string | null;
  kind: 'user' | 'service_account' | 'guest';
  /** E-mail or name at the time of creation. Empty for keys created before it was recorded. */
  name: string;
}

/** An access key's row. */
export interface AccessKeyRecord {
  accessKeyId: string;
  workspaceUuid: string;
  label: string;
  permissions: readonly KeyPermission[];
  /** Names of buckets, or null for all. */
  buckets: readonly string[] | null;
  /** The secret, sealed by the key ring. It is shown only on creation. */
  sealedSecret: string;
  createdAtMs: number;
  createdBy: KeyMaker;
  expiresAtMs: number | null;
  lastUsedAtMs: number | null;
}

/** The result of a write. */
export interface StoredVersion {
  /** `null` is the version of an unversioned bucket. */
  versionId: string;
  etag: string;
  sizeBytes: number;
  modifiedAtMs: number;
  checksum: ObjectChecksum | null;
  /** Set for multipart objects, whose writer may not know it. */
  encryption?: ObjectEncryption;
}

/** ETags without quotes, or `*`. Evaluated against the current version, inside the transaction. */
export interface WriteConditions {
  ifMatch?: readonly string[];
  ifNoneMatch?: readonly string[];
}
