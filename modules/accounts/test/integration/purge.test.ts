import { migrations } from '@svc/migrations';
import { describeDialects, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { newApiToken, newTeam, newUser, newWorkspace } from '../support/test-people.ts';
import { call } from '../support/test-client.ts';
import { useAccounts } from '../support/use-accounts.ts';

describeDialects<unknown>('the purge', migrations, (database) => {
  const accounts = useAccounts(database);

  const asleep = () => waitFor(() => accounts().clock.pendingTimers() === 1, { description: 'the end of a purge' });

  /** Starts the purge on the first call; later calls advance the clock to its next run. */
  async function purgeOnce(): Promise<void> {
    if (accounts().clock.pendingTimers() === 0) {
      await accounts().module.start(new AbortController().signal);
    } else {
      await accounts().clock.advance(300_000);
    }
    await asleep();
  }

  it('removes what has expired and keeps the rest', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const team = await newTeam(accounts(), user);
    const soon = new Date(accounts().clock.nowMs() + 1000).toISOString();
    const expired = await newApiToken(accounts(), user, soon);
    const living = await newApiToken(accounts(), user);
    const url = `/api/v1/teams/${team}/invitations`;
    const invite = { token: user.token, body: { email: 'bob@example.com', role: 'guest', expires_in: 60 } };
    await call(accounts().app, 'POST', url, invite);

    await accounts().clock.advance(29 * 86_400_000);
    await purgeOnce();
    const { database: stores } = accounts();
    const listed = async () => (await stores.apiTokens.ofUser(user.id, { limit: 10, after: null })).map(({ id }) => id);
    expect((await listed()).sort()).toEqual([expired.id, living.id].sort()); // still shown as expired
    expect(await stores.sessions.deleteOfUser(user.id)).toBe(0); // idle for a week: gone

    await accounts().clock.advance(2 * 86_400_000);
    await asleep();
    await purgeOnce();
    expect(await listed()).toEqual([living.id]);
    const before = new Date(0).toISOString();
    expect(await stores.invitations.open(team, before, { limit: 10, after: null })).toEqual([]);
  });

  it('completes deletions that a terminated process left behind', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const [empty, full] = [await newWorkspace(accounts(), user, null), await newWorkspace(accounts(), user, null)];
    const { workspaces } = accounts().database;
    const now = accounts().clock.now().toISOString();
    for (const uuid of [empty, full]) await workspaces.update(uuid, { deletingSince: now }, now);
    accounts().holdings.set(full, ['1 cluster']);
    await purgeOnce();
    expect(await workspaces.byUuid(empty)).toBeDefined(); // may be running elsewhere
    await accounts().clock.advance(600_001);
    await asleep();
    await purgeOnce();
    expect(await workspaces.byUuid(empty)).toBeUndefined();
    expect(await workspaces.byUuid(full)).toMatchObject({ deletingSince: null });
  });

  it('continues after an error', async () => {
    accounts().inside.whileLooking = () => Promise.reject(new Error('the look inside failed'));
    const user = await newUser(accounts(), 'ann@example.com');
    const stuck = await newWorkspace(accounts(), user, null);
    const long = new Date(accounts().clock.nowMs() - 3600_000).toISOString();
    await accounts().database.workspaces.update(stuck, { deletingSince: long }, long);
    await accounts().module.start(new AbortController().signal);
    await asleep();
    expect(await accounts().database.workspaces.byUuid(stuck)).toMatchObject({ deletingSince: null });
    await accounts().clock.advance(300_000);
    await asleep();
    await accounts().module.close();
    expect(accounts().clock.pendingTimers()).toBe(0);
  });
});
