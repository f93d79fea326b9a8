import type { Principal } from '@svc/http';
import { secondsAfter } from '../effects.ts';
import { accountErrors } from '../../errors.ts';

/** For so long a sign-in, or the password given again, lets its session change passwords and tokens. */
export const CONFIRMED_FOR_SECONDS = 600;

/**
 * Lets only a sign-in through, however old: what ends every sign-in must also help when the password is not at hand. Throws
 * INTERACTIVE_SESSION_REQUIRED for API tokens.
 */
export function assertInteractive({ confirmedAt }: Principal): void {
  if (confirmedAt === undefined) throw accountErrors.INTERACTIVE_SESSION_REQUIRED();
}

/**
 * Lets only a person through who proved within the last ten minutes to be the user. Throws INTERACTIVE_SESSION_REQUIRED
 * for API tokens, and CONFIRMATION_REQUIRED for a sign-in of longer ago, such as a browser that somebody left open.
 */
export function assertConfirmed({ credential, confirmedAt }: Principal, now: Date): void {
  if (confirmedAt === undefined) throw accountErrors.INTERACTIVE_SESSION_REQUIRED();
  if (confirmedAt > secondsAfter(now, -CONFIRMED_FOR_SECONDS).toISOString()) return;
  const remedy =
    credential === 'oidc' ? 'sign in at your identity provider again' : 'POST /api/auth/confirm with your password';
  throw accountErrors.CONFIRMATION_REQUIRED({ details: { remedy } });
}
