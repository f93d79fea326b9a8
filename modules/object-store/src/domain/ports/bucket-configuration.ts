import type { BucketDocumentName, EncryptionMode, Versioning } from './records.ts';

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

/** Commands on a bucket's configuration. Each is one transaction. */
export interface BucketConfigurationCommands {
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
}

/** Queries of a bucket's configuration. */
export interface BucketConfigurationQueries {
  bucketDocuments(input: { bucketId: number }): Promise<Readonly<Partial<Record<BucketDocumentName, string>>>>;
}
