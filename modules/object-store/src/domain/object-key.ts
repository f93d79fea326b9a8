import { storeErrors } from '../errors.ts';

const MAX_KEY_BYTES = 1_024;

/** Accepts any UTF-8 up to 1,024 bytes, except U+0000, which PostgreSQL text cannot hold. */
export function assertObjectKey(key: string): void {
  if (key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw storeErrors.KeyTooLongError({ details: { size: Buffer.byteLength(key), maxSizeAllowed: MAX_KEY_BYTES } });
  }
  if (key.includes('\u0000')) throw storeErrors.InvalidArgument({ details: { reason: 'A key cannot contain U+0000' } });
  if (!key.isWellFormed()) throw storeErrors.InvalidURI();
}
