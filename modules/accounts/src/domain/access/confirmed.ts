import type { Principal } from '@svc/access';
import { secondsAfter } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';

/** How long a sign-in or a password confirmation lets its session change passwords and tokens. */
export const CONFIRMED_FOR_SECONDS = 600;

/**
 * Requires an interactive sign-in of any age: ending every sign-in must work even without the password. Throws
 * INTERACTIVE_SESSION_REQUIRED for API tokens.
 */
export function assertInteractive({ confirmedAt }: Principal): void {
  if (confirmedAt === undefined) throw accountErrors.INTERACTIVE_SESSION_REQUIRED();
}

/**
 * Requires a sign-in or password confirmation within the last ten minutes. Throws INTERACTIVE_SESSION_REQUIRED for API
 * tokens, and CONFIRMATION_REQUIRED for an older sign-in, such as a browser left open.
 */
export function assertConfirmed({ credential, confirmedAt }: Principal, now: Date): void {
  if (confirmedAt === undefined) throw accountErrors.INTERACTIVE_SESSION_REQUIRED();
  if (confirmedAt > secondsAfter(now, -CONFIRMED_FOR_SECONDS).toISOString()) return;
  const remedy =
    credential === 'oidc' ? 'sign in at your identity provider again' : 'POST /api/auth/confirm with your password';
  throw accountErrors.CONFIRMATION_REQUIRED({ details: { remedy } });
}
