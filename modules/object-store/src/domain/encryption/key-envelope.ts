import { createCipheriv, createDecipheriv, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { ObjectEncryption } from '../ports/records.ts';
import { CONTENT_KEY_BYTES, ContentKey } from './content-key.ts';

const OBJECT_KEY = 'object-key';
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CUSTOMER_ENVELOPE_BYTES = SALT_BYTES + NONCE_BYTES + CONTENT_KEY_BYTES + TAG_BYTES;

/** A key that a client sent with one request. Never stored. */
export interface CustomerKey {
  key: KeyObject;
  /** Base64, for the response header. */
  md5: string;
}

/** Which key protects a data key. */
export type EnvelopeTarget =
  | { mode: 'sse-s3' }
  /** A named key of the store: the key ring's, bound to the name. */
  | { mode: 'sse-kms'; keyId: string }
  | { mode: 'sse-c'; customerKey: CustomerKey };

export interface EnvelopeDeps {
  secrets: Pick<KeyRing, 'seal' | 'open'>;
  random: (size: number) => Buffer;
}

export function createContentKey(deps: EnvelopeDeps, mode: ObjectEncryption['mode']): ContentKey {
  return new ContentKey(deps.random(CONTENT_KEY_BYTES), { isGuarded: mode !== 'sse-s3' });
}

/** Seals a data key for storage with its object. */
export async function sealContentKey(
  deps: EnvelopeDeps,
  key: ContentKey,
  target: EnvelopeTarget,
): Promise<ObjectEncryption> {
  const bytes = key.bytes();
  switch (target.mode) {
    case 'sse-s3':
      return { mode: 'sse-s3', sealedKey: await deps.secrets.seal(bytes.toString('base64'), OBJECT_KEY) };
    case 'sse-kms': {
      const sealedKey = await deps.secrets.seal(bytes.toString('base64'), `${OBJECT_KEY}/${target.keyId}`);
      return { mode: 'sse-kms', sealedKey, keyId: target.keyId };
    }
    case 'sse-c':
      return { mode: 'sse-c', sealedKey: sealForCustomer(deps, bytes, target.customerKey) };
  }
}

/** Null if the customer's key is not the right one. Other modes need none. */
export async function openContentKey(
  deps: EnvelopeDeps,
  encryption: ObjectEncryption,
  customerKey: CustomerKey | null,
): Promise<ContentKey | null> {
  const isGuarded = encryption.mode !== 'sse-s3';
  if (encryption.mode === 'sse-c') {
    const bytes = customerKey === null ? null : openForCustomer(encryption.sealedKey, customerKey);
    return bytes === null ? null : new ContentKey(bytes, { isGuarded });
  }
  const text = await deps.secrets.open(encryption.sealedKey, ringContext(encryption));
  return new ContentKey(Buffer.from(text, 'base64'), { isGuarded });
}

/** The context that binds a data key in the key ring. Not used with SSE-C. */
export function ringContext({ mode, keyId }: Pick<ObjectEncryption, 'mode' | 'keyId'>): string {
  return mode === 'sse-kms' ? `${OBJECT_KEY}/${keyId ?? ''}` : OBJECT_KEY;
}

/** Wraps a customer's 32-byte key, with the MD5 that proves correct transmission. */
export function toCustomerKey(bytes: Uint8Array): CustomerKey {
  return { key: createSecretKey(bytes), md5: hash('md5', bytes, 'base64') };
}

/** The envelope's tag is the only trace of the customer's key. The salt keeps equal keys from looking equal. */
function sealForCustomer(deps: EnvelopeDeps, bytes: Buffer, { key }: CustomerKey): string {
  const salt = deps.random(SALT_BYTES);
  const nonce = deps.random(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', wrappingKey(key, salt), nonce);
  return Buffer.concat([salt, nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function openForCustomer(sealedKey: string, { key }: CustomerKey): Buffer | null {
  const sealed = Buffer.from(sealedKey, 'base64');
  if (sealed.length !== CUSTOMER_ENVELOPE_BYTES) return null;
  const salt = sealed.subarray(0, SALT_BYTES);
  const nonce = sealed.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', wrappingKey(key, salt), nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const bytes = decipher.update(sealed.subarray(SALT_BYTES + NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return bytes;
  } catch {
    return null; // the wrong key, not a fault
  }
}

function wrappingKey(key: KeyObject, salt: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, salt, 'svc customer key', CONTENT_KEY_BYTES)));
}
