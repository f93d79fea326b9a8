import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

export const CONTENT_KEY_BYTES = 32;

/** The data key of one object. What its blobs are sealed under is derived from it and from each blob's own salt. */
export class ContentKey {
  readonly #key: KeyObject;
  readonly #hidesDigest: boolean;

  /** `hidesDigest`: entity tags must not tell the MD5 of the content, as with SSE-C and SSE-KMS. */
  constructor(bytes: Uint8Array, options: { hidesDigest: boolean }) {
    this.#key = createSecretKey(bytes);
    this.#hidesDigest = options.hidesDigest;
  }

  /** RFC 5869. Parts that are sent again, and copies of parts, have a new salt and therefore another key. */
  blobKey(salt: Uint8Array): KeyObject {
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#key, salt, 'svc sealed blob', CONTENT_KEY_BYTES)));
  }

  /** Hexadecimal and of the length of an MD5, as clients expect, but made under the key where the MD5 must not show. */
  entityTag(md5: Uint8Array): string {
    if (!this.#hidesDigest) return Buffer.from(md5).toString('hex');
    return createHmac('sha256', this.#key)
      .update('svc entity tag')
      .update(md5)
      .digest()
      .subarray(0, 16)
      .toString('hex');
  }

  /** For the envelope alone. */
  bytes(): Buffer {
    return this.#key.export();
  }
}
