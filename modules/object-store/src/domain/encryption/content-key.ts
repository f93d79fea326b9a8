import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

export const CONTENT_KEY_BYTES = 32;

/** The data key of one object. Blob keys are derived from it and each blob's own salt. */
export class ContentKey {
  /** With SSE-C and SSE-KMS: ETags do not reveal the MD5 of the content, and no cache keeps it. */
  readonly isGuarded: boolean;
  readonly #key: KeyObject;

  constructor(bytes: Uint8Array, options: { isGuarded: boolean }) {
    this.#key = createSecretKey(bytes);
    this.isGuarded = options.isGuarded;
  }

  /** RFC 5869. Re-uploaded parts and copies of parts have a new salt and therefore another key. */
  blobKey(salt: Uint8Array): KeyObject {
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#key, salt, 'svc sealed blob', CONTENT_KEY_BYTES)));
  }

  /** Hexadecimal, as long as an MD5, as clients expect. Keyed if the MD5 must stay hidden. */
  entityTag(md5: Uint8Array): string {
    if (!this.isGuarded) return Buffer.from(md5).toString('hex');
    return createHmac('sha256', this.#key)
      .update('svc entity tag')
      .update(md5)
      .digest()
      .subarray(0, 16)
      .toString('hex');
  }

  /** Only for sealing the key itself. */
  bytes(): Buffer {
    return this.#key.export();
  }
}
