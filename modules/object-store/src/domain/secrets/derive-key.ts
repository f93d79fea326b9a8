import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Derives a key for one purpose from a longer-lived one (RFC 5869). A derived key reveals nothing about its source. */
export function deriveKey(key: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
}
