import type { User } from '../records.ts';
import type { AccountStores } from '../stores.ts';

/**
 * Whether the user's password is still the one whose hash was checked before; if so it stays until the transaction ends.
 * A check waits its turn, and the password may be another by then.
 */
export async function holdsPassword(
  stores: Pick<AccountStores, 'users'>,
  checked: Pick<User, 'id' | 'passwordHash'>,
): Promise<boolean> {
  await stores.users.lock(checked.id);
  return (await stores.users.byId(checked.id))?.passwordHash === checked.passwordHash;
}

/**
 * Gives a user a new password and ends what the old one may have opened: known browsers, open links and sessions.
 * Answers how many sessions ended. With `kept` the user asks for it: that session goes on, and so do tokens that an
 * external issuer signed. Without it everything ends.
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
