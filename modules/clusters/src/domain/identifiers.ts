import { createHash } from 'node:crypto';

/** Source of randomness, such as `crypto.randomBytes`. */
export type RandomBytes = (sizeBytes: number) => Buffer;

const ALPHABET = '0123456789abcdefghijkmnpqrstuvwxyz'; // without l and o, which look like 1 and 0

/** `cls-7k2m…`: twelve characters from an alphabet of 34, which is 61 bits. */
export function newId(prefix: 'cls' | 'dep' | 'cmd' | 'ses' | 'msg', randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < 12) {
    for (const byte of randomBytes(16)) {
      // 238 = 7 * 34: larger bytes would favor the first characters.
      if (byte < 238 && text.length < 12) text += ALPHABET[byte % ALPHABET.length] ?? '';
    }
  }
  return `${prefix}-${text}`;
}

/** Calls take a cluster's name or id, so a name of this form would be ambiguous. */
export function isClusterId(text: string): boolean {
  return /^cls-[0-9a-z]{12}$/.test(text);
}

export const AGENT_TOKEN_PREFIX = 'svc_agt_';

/** An agent token: 256 random bits, shown once. Only its hash is stored. */
export function newAgentToken(randomBytes: RandomBytes): string {
  return AGENT_TOKEN_PREFIX + randomBytes(32).toString('base64url');
}

/** Plain SHA-256 suffices: 256 random bits cannot be guessed, so stretching adds nothing. */
export function hashAgentToken(token: string): string {
  return sha256(token);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
