import { createCredentialRef, createMaker, type Action, type CredentialRef, type Principal } from '@svc/access';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { call } from '../../support/test-client.ts';
import {
  joinTeam,
  newApiToken,
  newServiceAccount,
  newTeam,
  newUser,
  newWorkspace,
  type TestUser,
} from '../../support/test-people.ts';
import { testConfig } from '../../support/test-config.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const ACTIONS: readonly Action[] = ['object:read', 'object:write', 'bucket:update', 'workspace:delete'];

describeDialects<unknown>('credential rechecks', migrations, (database) => {
  const accounts = useAccounts(database, () => ({ config: testConfig({ guest: { enabled: true } }) }));
  const authenticate = (token: string): Promise<Principal> =>
    accounts().module.access.authenticate({
      headers: { authorization: `Bearer ${token}` },
      method: 'GET',
      remoteAddress: '127.0.0.1',
      isSecure: false,
    });
  const createRef = async (token: string): Promise<CredentialRef> =>
    createCredentialRef(await authenticate(token), accounts().clock.now());
  const recheck = (ref: CredentialRef): Promise<Principal> => accounts().module.access.recheck(ref);
  const revoked = { code: 'UNAUTHORIZED', status: 401 };
  const inSeconds = (seconds: number) => new Date(accounts().clock.nowMs() + seconds * 1000).toISOString();
  const remove = async (path: string, user: TestUser): Promise<void> => {
    expect((await call(accounts().app, 'DELETE', path, { token: user.token })).status).toBe(200);
  };
  const allowed = async (token: string, workspaceUuid: string): Promise<string[]> => {
    const maker = createMaker(await authenticate(token));
    return [...(await accounts().module.access.allowedActions({ maker, workspaceUuid, actions: ACTIONS }))];
  };

  it('accept an expired JWT while its session exists, and refuse it after sign-out', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const ref = await createRef(user.token);
    await accounts().clock.advance(3_600_000);
    await expect(authenticate(user.token)).rejects.toMatchObject(revoked);
    expect(await recheck(ref)).toMatchObject({ id: user.id, credential: 'jwt', credentialId: ref.credentialId });
    await accounts().database.sessions.deleteOfUser(user.id);
    await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it('do not count as session activity: the session still ends when idle', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const ref = await createRef(user.token);
    const day = 86_400_000; // sessions end after seven idle days
    for (let days = 1; days < 7; days += 1) {
      await accounts().clock.advance(day);
      expect(await recheck(ref)).toMatchObject({ id: user.id });
    }
    await accounts().clock.advance(day);
    await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it('refuse an API token once it is deleted or expired', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const deleted = await newApiToken(accounts(), user);
    const expiring = await newApiToken(accounts(), user, inSeconds(10));
    const refs = [await createRef(deleted.token), await createRef(expiring.token)] as const;
    expect(await recheck(refs[1])).toMatchObject({ expiresAt: inSeconds(10) });
    await remove(`/api/tokens/${deleted.id}`, user);
    await accounts().clock.advance(10_000);
    for (const ref of refs) await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it('refuse a deleted service account, and return its current scopes before that', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const workspace = await newWorkspace(accounts(), user, null);
    const account = await newServiceAccount(accounts(), user, workspace, ['read']);
    const ref = await createRef(account.token);
    expect(await recheck(ref)).toMatchObject({ scopes: ['read'], workspaceUuid: workspace });
    await remove(`/api/v1/workspaces/${workspace}/service-accounts/${account.id}`, user);
    await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it('refuse an expired guest', async () => {
    const { body } = await call(accounts().app, 'POST', '/api/auth/guest', { body: { username: 'smoke' } });
    const ref = await createRef(String(body['token']));
    const guest = await recheck(ref);
    expect(guest).toMatchObject({ kind: 'guest', expiresAt: expect.any(String) as string });
    await accounts().clock.advance(Date.parse(String(guest.expiresAt)) - accounts().clock.nowMs());
    await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it('never mix up the credentials of two users', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const ref = { ...(await createRef(ann.token)), principalId: bob.id };
    await expect(recheck(ref)).rejects.toMatchObject(revoked);
  });

  it("return the creator's current rights in a workspace, regardless of earlier ones", async () => {
    const owner = await newUser(accounts(), 'owner@example.com');
    const member = await newUser(accounts(), 'member@example.com');
    const outsider = await newUser(accounts(), 'outsider@example.com');
    const team = await newTeam(accounts(), owner);
    await joinTeam(accounts(), team, member, 'admin');
    const workspace = await newWorkspace(accounts(), owner, team);
    expect(await allowed(owner.token, workspace)).toEqual(ACTIONS);
    expect(await allowed(member.token, workspace)).toEqual(['object:read', 'object:write', 'bucket:update']);
    expect(await allowed(outsider.token, workspace)).toEqual([]);
    await accounts().database.members.setRole(team, member.id, 'member');
    expect(await allowed(member.token, workspace)).toEqual(['object:read', 'object:write']);
    await remove(`/api/v1/teams/${team}/members/${member.id}`, owner);
    expect(await allowed(member.token, workspace)).toEqual([]);
  });

  it('allow a creator nothing once its token is gone, unless it was signed in', async () => {
    const owner = await newUser(accounts(), 'owner@example.com');
    const workspace = await newWorkspace(accounts(), owner, null);
    const token = await newApiToken(accounts(), owner);
    const account = await newServiceAccount(accounts(), owner, workspace, ['write']);
    const principals = [await authenticate(token.token), await authenticate(account.token)];
    const signedIn = createMaker(await authenticate(owner.token));
    const ask = async (maker: typeof signedIn) => [
      ...(await accounts().module.access.allowedActions({ maker, workspaceUuid: workspace, actions: ACTIONS })),
    ];
    expect(await Promise.all(principals.map((each) => ask(createMaker(each))))).toEqual([
      ACTIONS,
      ['object:read', 'object:write'],
    ]);
    await remove(`/api/tokens/${token.id}`, owner);
    await remove(`/api/v1/workspaces/${workspace}/service-accounts/${account.id}`, owner);
    await accounts().database.sessions.deleteOfUser(owner.id);
    expect(await Promise.all(principals.map((each) => ask(createMaker(each))))).toEqual([[], []]);
    expect(await ask(signedIn)).toEqual(ACTIONS);
  });

  it("treat the start token's creations as the user's, because the next start replaces the token", async () => {
    const { module } = accounts();
    await module.ensureOwner({ email: 'owner@example.com', password: 'a long enough password' });
    const first = await authenticate((await module.issueStartToken('replica a')).token);
    const { workspaceUuid } = await module.access.authorize({ principal: first, action: 'object:read' });
    await module.issueStartToken('replica a');
    await expect(module.access.recheck(createCredentialRef(first, accounts().clock.now()))).rejects.toMatchObject(
      revoked,
    );
    const request = { maker: createMaker(first), workspaceUuid, actions: ACTIONS };
    expect([...(await module.access.allowedActions(request))]).toEqual(ACTIONS);
  });

  it('allow nothing in a workspace that is being deleted', async () => {
    const owner = await newUser(accounts(), 'owner@example.com');
    const workspace = await newWorkspace(accounts(), owner, null);
    const maker = createMaker(await authenticate(owner.token));
    await remove(`/api/v1/workspaces/${workspace}`, owner);
    const actions = await accounts().module.access.allowedActions({
      maker,
      workspaceUuid: workspace,
      actions: ACTIONS,
    });
    expect([...actions]).toEqual([]);
  });
});
