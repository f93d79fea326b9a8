/** Generates the store's random identifiers. `random` is a parameter so that tests can be deterministic. */
export interface Identifiers {
  bucketId(): number;
  accessKeyId(): string;
  secretAccessKey(): string;
  /** Sorts by creation time. */
  uploadId(nowMs: number): string;
  versionToken(): string;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function createIdentifiers(random: (size: number) => Buffer): Identifiers {
  return {
    bucketId: () => random(6).readUIntBE(0, 6) + 1,
    accessKeyId: () => `tid_${base62(random, 22)}`,
    secretAccessKey: () => `tsec_${base62(random, 40)}`,
    uploadId: (nowMs) => nowMs.toString(36).padStart(9, '0') + base62(random, 31),
    versionToken: () => base62(random, 21),
  };
}

/** Every digit is equally likely: bytes that would favor the first digits are discarded. */
function base62(random: (size: number) => Buffer, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62] ?? '';
    }
  }
  return text;
}
