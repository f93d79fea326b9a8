import { AccountsClient, Transport, type Caller } from '@svc/sdk';
import { entrancePaths } from '../routes/paths.ts';
import { safeNext } from '../session/safe-next.ts';
import { invitationPage } from './invitation.ts';
import { setPasswordPage } from './set-password.ts';
import { signInPage } from './sign-in.ts';

/** Shows the entrance page for the current URL. */
export async function startEntrance(container: HTMLElement): Promise<void> {
  let caller: Caller | null = null;
  const transport = new Transport({
    baseUrl: window.location.origin,
    credential: { kind: 'session', csrfToken: () => caller?.csrf_token ?? null },
  });
  const accounts = new AccountsClient(transport);
  const path = window.location.pathname;
  if (path !== entrancePaths.setPassword) caller = await signedIn(accounts);
  if (path === entrancePaths.signIn && caller !== null) {
    window.location.replace(safeNext(new URLSearchParams(window.location.search).get('next') ?? undefined));
    return;
  }
  const page =
    path === entrancePaths.invitation
      ? invitationPage(accounts, caller?.user?.email ?? null)
      : path === entrancePaths.setPassword
        ? setPasswordPage(accounts)
        : signInPage(accounts);
  container.replaceChildren(page);
  container.querySelector('input')?.focus();
}

/** Null for a visitor, and if the platform does not respond; the form then reports the error on submit. */
function signedIn(accounts: AccountsClient): Promise<Caller | null> {
  return accounts.me().catch(() => null);
}
