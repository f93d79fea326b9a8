import type { ContentKey } from './encryption/content-key.ts';
import {
  createContentKey,
  openContentKey,
  sealContentKey,
  type CustomerKey,
  type EnvelopeTarget,
} from './encryption/key-envelope.ts';
import { storeErrors } from '../errors.ts';
import type { BucketRecord, ObjectEncryption } from './ports/records.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import { parseEncryptionDocument, type EncryptionDocument } from './encryption-document.ts';
import type { StoreDeps } from './store-deps.ts';

/** The encryption that an upload requests. Empty for the bucket's default. */
export interface EncryptionRequest {
  algorithm?: 'AES256' | 'aws:kms';
  /** With `aws:kms`. */
  keyId?: string;
  customerKey?: CustomerKey;
}

export interface WriteEncryption {
  key: ContentKey;
  /** Stored with the object. */
  encryption: ObjectEncryption;
}

export interface EncryptionService {
  /**
   * Creates the data key of a new object. Null to store it unencrypted. Throws `InvalidArgument` for an unknown key id.
   */
  forWrite(bucket: BucketRecord, request: EncryptionRequest): Promise<WriteEncryption | null>;
  /**
   * Opens the data key of stored content. Null if it is unencrypted. Throws `InvalidRequest` for a customer key that is
   * missing, wrong or superfluous.
   */
  open(encryption: ObjectEncryption | undefined, customerKey: CustomerKey | null): Promise<ContentKey | null>;
  /**
   * For copies whose source and target are both encrypted: seals the same data key for the new reader, so that the copy
   * can share the bytes. Null if they must be rewritten.
   */
  forCopy(
    source: { encryption: ObjectEncryption | undefined; customerKey: CustomerKey | null },
    bucket: BucketRecord,
    request: EncryptionRequest,
  ): Promise<{ encryption: ObjectEncryption | undefined } | null>;
  /** The bucket's default encryption. Null if it has none. */
  findDefault(bucket: BucketRecord): Promise<EncryptionDocument | null>;
  /** Null removes the default. Throws `InvalidArgument` for an unknown key id. */
  setDefault(bucket: BucketRecord, document: EncryptionDocument | null): Promise<void>;
}

const KEY_ALGORITHMS = { AES256: 'sse-s3', 'aws:kms': 'sse-kms' } as const;

export function createEncryptionService(
  deps: Pick<StoreDeps, 'secrets' | 'random' | 'config' | 'metadata' | 'clock'>,
  configurations: BucketConfigurations,
): EncryptionService {
  const findDefault = async (bucket: BucketRecord): Promise<EncryptionDocument | null> => {
    if (bucket.encryptionMode === 'none') return null; // the row is enough for most buckets
    const configuration = await configurations.of(bucket);
    return configuration.parsed('encryption', parseEncryptionDocument) ?? { algorithm: 'AES256' };
  };
  const assertKeyId = (keyId: string): string => {
    if (deps.config.kms_key_ids.includes(keyId)) return keyId;
    throw invalid(`Key '${keyId}' does not exist. The keys of this store are named by its operator`);
  };
  const resolveTarget = async (bucket: BucketRecord, request: EncryptionRequest): Promise<EnvelopeTarget | null> => {
    if (request.customerKey !== undefined) return { mode: 'sse-c', customerKey: request.customerKey };
    const fallback = await findDefault(bucket);
    const algorithm = request.algorithm ?? fallback?.algorithm;
    if (algorithm === undefined) return null;
    if (algorithm === 'AES256') return { mode: 'sse-s3' };
    const keyId = request.keyId ?? (fallback?.algorithm === 'aws:kms' ? fallback.key_id : undefined);
    if (keyId === undefined) throw invalid('aws:kms requires a key ID, because there is no default key');
    return { mode: 'sse-kms', keyId: assertKeyId(keyId) };
  };
  const open: EncryptionService['open'] = async (encryption, customerKey) => {
    assertApplies(encryption, customerKey);
    if (encryption === undefined) return null;
    const key = await openContentKey(deps, encryption, customerKey);
    if (key === null) {
      throw wrong('The provided encryption parameters did not match the ones used originally to encrypt the object');
    }
    return key;
  };
  return {
    findDefault,
    open,
    forWrite: async (bucket, request) => {
      const target = await resolveTarget(bucket, request);
      if (target === null) return null;
      const key = createContentKey(deps, target.mode);
      return { key, encryption: await sealContentKey(deps, key, target) };
    },
    forCopy: async (source, bucket, request) => {
      const key = await open(source.encryption, source.customerKey);
      const target = await resolveTarget(bucket, request);
      if (key === null) return target === null ? { encryption: undefined } : null;
      if (target === null) return null;
      // ETags differ between modes that show the digest and modes that hide it, and are computed while the bytes are
      // rewritten.
      const shown = source.encryption?.mode === 'sse-s3';
      if (shown !== (target.mode === 'sse-s3')) return null;
      return { encryption: await sealContentKey(deps, key, target) };
    },
    setDefault: async (bucket, document) => {
      if (document?.algorithm === 'aws:kms' && document.key_id !== undefined) assertKeyId(document.key_id);
      await deps.metadata.setBucketEncryption({
        bucketId: bucket.id,
        encryptionMode: document === null ? 'none' : 'sse-s3',
        document: document === null ? null : JSON.stringify(document),
        nowMs: deps.clock.nowMs(),
      });
    },
  };
}

/** Whether a header or document names an algorithm that S3 has. */
export function isEncryptionAlgorithm(name: string): name is keyof typeof KEY_ALGORITHMS {
  return Object.hasOwn(KEY_ALGORITHMS, name);
}

function assertApplies(encryption: ObjectEncryption | undefined, customerKey: CustomerKey | null): void {
  if (encryption?.mode === 'sse-c') {
    if (customerKey !== null) return;
    throw wrong(
      'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
    );
  }
  if (customerKey !== null) throw wrong('The encryption parameters are not applicable to this object.');
}

function wrong(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason } });
}
