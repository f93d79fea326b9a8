import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { call } from '../../support/test-client.ts';
import {
  joinTeam,
  newTeam,
  newUser,
  newWorkspace,
  PASSWORD,
  signIn,
  type TestUser,
} from '../../support/test-people.ts';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('what one user may own', migrations, (database) => {
  const accounts = useAccounts(database);
  const limit = async (user: TestUser, quota: string, amount: number): Promise<void> => {
    await accounts().module.quotas.set({ scope: 'owner', subject: user.id }, quota, amount);
  };
  const invite = async (by: TestUser, team: string, email: string): Promise<string> => {
    const url = `/api/v1/teams/${team}/invitations`;
    const made = await call(accounts().app, 'POST', url, { token: by.token, body: { email, role: 'admin' } });
    expect(made.status).toBe(201);
    return String(made.body['token']);
  };
  const accept = (token: string, email: string) =>
    call(accounts().app, 'POST', `/api/v1/invitations/${token}/accept`, {
      body: { email, name: 'New', password: PASSWORD },
    });
  const createTeam = (user: TestUser) =>
    call(accounts().app, 'POST', '/api/v1/teams', { token: user.token, body: { name: 'Crew' } });
  const full = (quota: string, amount: number) => ({
    status: 403,
    body: {
      code: 'QUOTA_EXCEEDED',
      details: { quota, scope: 'owner', limit: amount, remedy: expect.stringContaining('svc admin quota set') },
    },
  });

  it('are set by the operator for each user: workspaces and teams', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    await limit(ann, 'workspaces', 1);
    await limit(ann, 'teams', 1);
    await newTeam(accounts(), ann);
    expect(await createTeam(ann)).toMatchObject(full('teams', 1));
    const made = await call(accounts().app, 'POST', '/api/v1/workspaces', { token: ann.token, body: { name: 'More' } });
    expect(made).toMatchObject(full('workspaces', 1));
    expect(await accounts().module.quotas.ofSubject({ scope: 'owner', subject: ann.id })).toMatchObject([
      { quota: { name: 'workspaces' }, limit: 1, used: 1 },
      { quota: { name: 'teams' }, limit: 1, used: 1 },
      { quota: { name: 'invited_accounts' }, limit: 100, used: 0 },
    ]);
    const workspace = { scope: 'workspace', subject: ann.workspaceUuid } as const;
    expect(await accounts().module.quotas.ofSubject(workspace)).toEqual([]);
    await expect(accounts().module.quotas.set(workspace, 'teams', 1)).rejects.toMatchObject({ code: 'UNKNOWN_QUOTA' });
  });

  it('apply to transfers from other users', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'admin');
    const workspace = await newWorkspace(accounts(), ann, team);
    await limit(bob, 'workspaces', 1);
    await limit(bob, 'teams', 0);
    const give = (path: string) =>
      call(accounts().app, 'POST', `/api/v1/${path}/transfer`, { token: ann.token, body: { user_id: bob.id } });
    expect(await give(`workspaces/${workspace}`)).toMatchObject(full('workspaces', 1));
    expect(await give(`teams/${team}`)).toMatchObject(full('teams', 0));
  });

  it('share one account quota among users who invited each other, even for concurrent invitations', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    await limit(ann, 'invited_accounts', 3);
    const team = await newTeam(accounts(), ann);
    expect((await accept(await invite(ann, team, 'bob@example.com'), 'bob@example.com')).status).toBe(200);
    const bob = await signIn(accounts(), 'bob@example.com');
    const bobs = await newTeam(accounts(), bob);
    const emails = ['carl@example.com', 'dora@example.com', 'emil@example.com', 'fred@example.com'];
    const tokens: string[] = [];
    for (const email of emails) tokens.push(await invite(bob, bobs, email));
    const accepted = await Promise.all(tokens.map((token, index) => accept(token, emails[index] ?? '')));
    expect(sortedStatuses(accepted)).toEqual([200, 200, 403, 403]);
    expect(accepted.find(({ status }) => status === 403)).toMatchObject(full('invited_accounts', 3));
    // A user with an account may still join, and the refused link is still open.
    const refused = accepted.findIndex(({ status }) => status === 403);
    const joined = await call(accounts().app, 'POST', `/api/v1/invitations/${tokens[refused]}/accept`, {
      token: ann.token,
    });
    expect(joined.status).toBe(200);
  });

  it('do not count accounts that the operator invites', async () => {
    const operator = await newUser(accounts(), 'op@example.com', true);
    await limit(operator, 'invited_accounts', 0);
    const team = await newTeam(accounts(), operator);
    expect((await accept(await invite(operator, team, 'bob@example.com'), 'bob@example.com')).status).toBe(200);
    const bob = await signIn(accounts(), 'bob@example.com');
    await limit(bob, 'invited_accounts', 0);
    const token = await invite(bob, team, 'carl@example.com');
    expect(await accept(token, 'carl@example.com')).toMatchObject(full('invited_accounts', 0));
  });
});
