import { createCipheriv, type CipherGCM, type KeyObject } from 'node:crypto';
import type { ContentKey } from './content-key.ts';
import { chunkCount, CHUNK_BYTES, chunkNonce, SALT_BYTES, SEALED_VERSION } from './sealed-layout.ts';

/** Seals content of a known length incrementally, in pieces of any size. Buffers nothing but the cipher's state. */
export class ContentSealer {
  readonly #key: KeyObject;
  readonly #header: Buffer;
  readonly #chunks: number;
  #cipher: CipherGCM | null = null;
  #index = 0;
  #left = CHUNK_BYTES;
  #begun = false;

  constructor(key: ContentKey, sizeBytes: number, random: (size: number) => Buffer) {
    const salt = random(SALT_BYTES);
    this.#key = key.blobKey(salt);
    this.#header = Buffer.concat([Buffer.of(SEALED_VERSION), salt]);
    this.#chunks = chunkCount(sizeBytes);
  }

  /** Returns the sealed bytes of this piece. Does not keep the piece. */
  update(piece: Uint8Array): Buffer[] {
    const sealed = this.#begin();
    let position = 0;
    while (position < piece.length) {
      const end = Math.min(piece.length, position + this.#left);
      sealed.push(this.#open().update(piece.subarray(position, end)));
      this.#left -= end - position;
      position = end;
      if (this.#left === 0 && this.#index < this.#chunks - 1) sealed.push(this.#close());
    }
    return sealed;
  }

  /** Ends the last chunk. */
  final(): Buffer[] {
    return [...this.#begin(), this.#close()];
  }

  #begin(): Buffer[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [this.#header];
  }

  #open(): CipherGCM {
    const isLast = this.#index === this.#chunks - 1;
    this.#cipher ??= createCipheriv('aes-256-gcm', this.#key, chunkNonce(this.#index, isLast));
    return this.#cipher;
  }

  #close(): Buffer {
    const cipher = this.#open();
    const rest = cipher.final();
    const tag = cipher.getAuthTag();
    this.#cipher = null;
    this.#index += 1;
    this.#left = CHUNK_BYTES;
    return rest.length === 0 ? tag : Buffer.concat([rest, tag]);
  }
}
