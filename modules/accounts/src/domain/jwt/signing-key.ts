import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Public half of an Ed25519 key, RFC 8037. */
export interface Ed25519Jwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
}

/** A stored key. A retired one keeps only its public half, until the last token it signed has expired. */
export interface SigningKeyRecord {
  kid: string;
  createdAt: string;
  publicJwk: Ed25519Jwk;
  /** The private half `d`; null once retired. */
  d: string | null;
  /** Set once retired: published and accepted until then. */
  verifyUntil: string | null;
}

/** Port to the key storage. */
export interface SigningKeyStore {
  load(): Promise<SigningKeyRecord[]>;
  save(record: SigningKeyRecord): Promise<void>;
  remove(kid: string): Promise<void>;
}

export function generateSigningKey(createdAt: string): SigningKeyRecord {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x, d } = privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined) throw new Error('an Ed25519 key has both halves'); // narrows the JWK type
  const publicJwk: Ed25519Jwk = { kty: 'OKP', crv: 'Ed25519', x };
  return { kid: thumbprint(publicJwk), createdAt, publicJwk, d, verifyUntil: null };
}

export function importPrivateKey({ publicJwk, d }: SigningKeyRecord): KeyObject | undefined {
  return d === null ? undefined : createPrivateKey({ key: { ...publicJwk, d }, format: 'jwk' });
}

export function importPublicKey({ publicJwk }: SigningKeyRecord): KeyObject {
  return createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
}

/** RFC 7638: members sorted by name, no whitespace. */
function thumbprint({ crv, kty, x }: Ed25519Jwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}
