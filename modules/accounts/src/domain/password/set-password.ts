import type { User } from '../records.ts';
import type { AccountStores } from '../stores.ts';

/**
 * Checks that the user's password is still the one whose hash was verified, and locks it until the transaction ends.
 * The password may have changed while the verification was queued.
 */
export async function holdsPassword(
  stores: Pick<AccountStores, 'users'>,
  checked: Pick<User, 'id' | 'passwordHash'>,
): Promise<boolean> {
  await stores.users.lock(checked.id);
  return (await stores.users.byId(checked.id))?.passwordHash === checked.passwordHash;
}

/**
 * Sets a new password and revokes whatever the old one may have opened: known browsers, open links and sessions.
 * Returns the number of sessions ended. `kept` marks a change by the user: that session stays, and so do tokens of
 * external issuers. Without it, everything ends.
 */
export async function setPassword(
  stores: AccountStores,
  user: { id: string; passwordHash: string },
  now: string,
  kept?: { sessionId: string | null },
): Promise<number> {
  const { id, passwordHash } = user;
  const changes = kept === undefined ? { passwordHash, tokensValidFrom: now } : { passwordHash };
  await stores.users.update(id, changes, now);
  await stores.devices.deleteOfUser(id);
  await stores.passwordLinks.deleteOfUser(id);
  return stores.sessions.deleteOfUser(id, kept?.sessionId ?? undefined);
}
