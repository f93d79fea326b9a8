import { hash } from 'node:crypto';

/** What a secret opens can be told from its prefix, also by scanners that look for leaked ones. */
export type TokenPrefix = 'svc_pat_' | 'sat_' | 'svc_inv_' | 'svc_ses_' | 'svc_pwd_' | 'svc_dev_';

const SECRET_BYTES = 32;

/** 256 random bits behind the prefix: shown once, kept only as its hash. */
export function mintToken(prefix: TokenPrefix, randomBytes: (sizeBytes: number) => Buffer): string {
  return prefix + randomBytes(SECRET_BYTES).toString('base64url');
}

/** SHA-256 is enough for 256 random bits; a slow hash is for what people choose. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
