import { createCipheriv, createHash } from 'node:crypto';

/** Which bytes a write carried. */
export interface Body {
  number: number;
  sizeBytes: number;
}

/** The bytes of a number: the same each time, and of no other number. */
export function bytesOf(seed: string, { number, sizeBytes }: Body): Buffer {
  const key = createHash('sha256').update(`${seed}/${number}`).digest();
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return cipher.update(Buffer.alloc(sizeBytes));
}
