import { accountErrors } from '../../errors.ts';

export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1024;

/** NIST SP 800-63B, 5.1.1.2: a minimum length and no composition rules, but neither the user's name nor e-mail. */
export function assertSuitablePassword(password: string, user: { email: string | null; name?: string }): void {
  const length = Array.from(password).length;
  if (length < MIN_PASSWORD_LENGTH) throw unsuitable(`needs at least ${MIN_PASSWORD_LENGTH} characters`);
  if (length > MAX_PASSWORD_LENGTH) throw unsuitable(`has more than ${MAX_PASSWORD_LENGTH} characters`);
  if (new Set(password).size < 3) throw unsuitable('has too few different characters');
  const folded = password.toLowerCase();
  if (folded === user.email || folded === user.name?.toLowerCase())
    throw unsuitable('must not be the email address or the name');
}

function unsuitable(reason: string): Error {
  return accountErrors.PASSWORD_UNSUITABLE({ details: { field: 'password', reason } });
}
