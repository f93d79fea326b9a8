import { createCipheriv, createHash } from 'node:crypto';

/** Identifies the bytes of a write. */
export interface Body {
  number: number;
  sizeBytes: number;
}

/** Bytes derived from the number: the same every time, and unique to it. */
export function generateBytes(seed: string, { number, sizeBytes }: Body): Buffer {
  const key = createHash('sha256').update(`${seed}/${number}`).digest();
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return cipher.update(Buffer.alloc(sizeBytes));
}
