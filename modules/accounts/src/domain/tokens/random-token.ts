import { hash } from 'node:crypto';

/** The prefix identifies the kind of secret, also for scanners that look for leaked ones. */
export type TokenPrefix = 'svc_pat_' | 'sat_' | 'svc_inv_' | 'svc_ses_' | 'svc_pwd_' | 'svc_dev_';

const SECRET_BYTES = 32;

/** 256 random bits after the prefix: shown once, stored only as a hash. */
export function mintToken(prefix: TokenPrefix, randomBytes: (sizeBytes: number) => Buffer): string {
  return prefix + randomBytes(SECRET_BYTES).toString('base64url');
}

/** SHA-256 suffices for 256 random bits; slow hashes are for secrets that people choose. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
