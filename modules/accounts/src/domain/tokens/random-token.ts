import { hash } from 'node:crypto';

/** The prefix identifies the kind of secret, also for scanners that look for leaked ones. */
export type TokenPrefix = 'svc_pat_' | 'sat_' | 'svc_inv_' | 'svc_ses_' | 'svc_pwd_' | 'svc_dev_';

const SECRET_BYTES = 32;

/** Prefix of a service account's token in the format of E2B clients. */
export const E2B_KEY_PREFIX = 'e2b_';

/** 256 random bits after the prefix: shown once, stored only as a hash. */
export function mintToken(prefix: TokenPrefix, randomBytes: (sizeBytes: number) => Buffer): string {
  return prefix + randomBytes(SECRET_BYTES).toString('base64url');
}

const E2B_KEY_BYTES = 20;

/**
 * A key that E2B clients accept: they check for `e2b_` and hexadecimal digits before they send a request. 160 random
 * bits.
 */
export function mintE2bKey(randomBytes: (sizeBytes: number) => Buffer): string {
  return `${E2B_KEY_PREFIX}${randomBytes(E2B_KEY_BYTES).toString('hex')}`;
}

/** SHA-256 suffices for 160 random bits or more; slow hashes are for secrets that people choose. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
