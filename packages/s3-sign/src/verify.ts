import { timingSafeEqual } from 'node:crypto';
import { canonicalRequest, stringToSign, type CanonicalFields } from './canonical-request.ts';
import type { SigningKey } from './signing-key.ts';
import { canonicalPath } from './uri-encode.ts';

/** A request's signature and what it was made with. Chunk signatures chain from it. */
export interface SignatureSeed {
  signature: string;
  signingKey: SigningKey;
  /** `yyyymmddThhmmssZ`. */
  amzDate: string;
  scope: string;
}

/**
 * Returns whether the signature covers these fields. Costs one hash and one HMAC; a signature that does not match at
 * first is also compared with the one of the fully encoded path.
 */
export function verifySignature(fields: CanonicalFields, seed: SignatureSeed): boolean {
  if (matches(canonicalRequest(fields), seed)) return true;
  // A client may send a path less encoded than it signed it; both forms name the same key.
  const encoded = canonicalPath(fields.path);
  return encoded !== null && encoded !== fields.path && matches(canonicalRequest({ ...fields, path: encoded }), seed);
}

/**
 * Node decodes header bytes outside ASCII as one character each. Most clients sign the bytes they send; some sign UTF-8
 * and send Latin-1.
 */
function matches(canonical: string, seed: SignatureSeed): boolean {
  const bytes = Buffer.from(canonical, 'latin1');
  if (isExpected(bytes, seed)) return true;
  return bytes.length !== Buffer.byteLength(canonical) && isExpected(canonical, seed);
}

function isExpected(canonical: string | Uint8Array, { signature, signingKey, amzDate, scope }: SignatureSeed): boolean {
  return sameSignature(signature, signingKey.sign(stringToSign(amzDate, scope, canonical)));
}

/** Compares in constant time. A signature of the wrong length is a mismatch, not an exception. */
export function sameSignature(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
