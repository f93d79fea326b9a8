import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A key for one purpose, from the master key (RFC 5869): what it protects tells nothing about the master key. */
export function deriveKey(masterKey: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32)));
}
