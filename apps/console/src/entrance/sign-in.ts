import { RateLimitedError, UnauthorizedError, type AccountsClient } from '@svc/sdk';
import { safeNext } from '../session/safe-next.ts';
import { form, frame, notice } from './elements.ts';

/** Why the visitor was sent here. */
const NOTICES = [
  ['ended', 'Your session has ended. Sign in to continue where you left off.'],
  ['password-set', 'Password set. Sign in with it.'],
] as const;

export function signInPage(accounts: AccountsClient): HTMLElement {
  const search = new URLSearchParams(window.location.search);
  const signIn = form({
    fields: [
      { label: 'Email', name: 'email', type: 'email', autocomplete: 'username' },
      { label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' },
    ],
    action: 'Sign in',
    onSubmit: async (text) => {
      await accounts.signIn({ email: text('email'), password: text('password') });
      window.location.assign(safeNext(search.get('next') ?? undefined));
    },
    onRefused: (error, { elements }) => {
      const password = elements.namedItem('password');
      const mayTryAgain = error instanceof UnauthorizedError || error instanceof RateLimitedError;
      if (mayTryAgain && password instanceof HTMLInputElement) password.select();
    },
  });
  const why = NOTICES.find(([name]) => search.has(name));
  return frame({ title: 'Sign in to svc', content: [...(why === undefined ? [] : [notice(why[1])]), signIn] });
}
