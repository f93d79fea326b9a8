import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A key for one purpose, from a longer-lived one (RFC 5869): what it protects tells nothing about that one. */
export function deriveKey(key: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
}
