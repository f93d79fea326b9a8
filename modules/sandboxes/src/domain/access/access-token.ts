import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';

/**
 * Tokens that stand for what a credential was granted in one sandbox or volume. They are derived from a record, so that they
 * are stored nowhere. `purpose` separates their kinds.
 */
export function accessToken(key: KeyObject, purpose: string, id: string, subject: string): string {
  const mac = createHmac('sha256', key).update(`${purpose}\n${id}\n${subject}`);
  return `svc_${id}-${mac.digest('base64url')}`;
}

/** Identifies a credential. Each sign-in at an external issuer is another one: it is revoked separately and has no record here. */
export function holderOf({ credential, grant }: GrantedAccess): string {
  const { credential: kind, principalId, credentialId, confirmedAt } = credential;
  return JSON.stringify([
    kind,
    principalId,
    credentialId ?? confirmedAt,
    grant?.workspaceUuid,
    grant?.teamUuid,
    grant?.role,
  ]);
}

/** Compares two secrets in constant time. */
export function isSame(given: string, wanted: string): boolean {
  const [one, two] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === two.length && timingSafeEqual(one, two);
}
