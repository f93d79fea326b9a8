import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import {
  joinTeam,
  newApiToken,
  newServiceAccount,
  newTeam,
  newUser,
  signIn,
  type TestUser,
} from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('invitations', migrations, (database) => {
  const config = testConfig({
    guest: { enabled: true },
    limits: { open_invitations_per_team: 4, members_per_team: 3 },
  });
  const accounts = useAccounts(database, () => ({ config }));
  const invite = async (team: string, by: TestUser, email: string, extra: Record<string, unknown> = {}) => {
    const body = { email, role: 'member', ...extra };
    return call(accounts().app, 'POST', `/api/v1/teams/${team}/invitations`, { token: by.token, body });
  };
  const accept = (token: unknown, request: Parameters<typeof call>[3]) =>
    call(accounts().app, 'POST', `/api/v1/invitations/${String(token)}/accept`, request);
  const newAccount = (email: string) => ({ email, name: 'New', password: 'a new long password' });

  async function createTeam(email: string): Promise<{ owner: TestUser; team: string }> {
    const owner = await newUser(accounts(), email);
    return { owner, team: await newTeam(accounts(), owner) };
  }

  it('create a user with the invited e-mail, who can sign in', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const invited = await invite(team, owner, 'Bob@Example.com');
    expect(invited).toMatchObject({
      status: 201,
      body: { email: 'bob@example.com', role: 'member', invited_by: owner.id, expires_at: '2026-01-08T00:00:00.000Z' },
    });
    const { token, url } = invited.body;
    expect(url).toBe(`http://console.test/invite#${String(token)}`);
    const accepted = await accept(token, { body: newAccount('bob@example.com') });
    expect(accepted).toMatchObject({
      status: 200,
      body: { team_uuid: team, team_name: 'Crew', role: 'member', created: true, user: { email: 'bob@example.com' } },
    });
    const bob = await signIn(accounts(), 'bob@example.com', 'a new long password');
    expect(bob.workspaceUuid).not.toBe('');
    const members = await call(accounts().app, 'GET', `/api/v1/teams/${team}/members`, { token: bob.token });
    expect((members.body['members'] as unknown[]).length).toBe(2);
  });

  it('add the signed-in user, by token or by cookie with the CSRF token', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const first = await invite(team, owner, 'somebody@example.com', { role: 'guest' });
    const cookies = { svc_session: bob.sessionCookie };
    expect((await accept(first.body['token'], { cookies })).body).toMatchObject({ code: 'CSRF_TOKEN_INVALID' });
    const me = await call(accounts().app, 'GET', '/api/auth/me', { cookies });
    const headers = { 'x-csrf-token': String(me.body['csrf_token']) };
    expect((await accept(first.body['token'], { cookies, headers })).body).toMatchObject({
      role: 'guest',
      created: false,
      user: { id: bob.id },
    });
    const cat = await newUser(accounts(), 'cat@example.com');
    const second = await invite(team, owner, 'cat@example.com');
    expect((await accept(second.body['token'], { token: cat.token })).status).toBe(200);
  });

  it('work once: exactly one of many concurrent requests succeeds', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const { body } = await invite(team, owner, 'new@example.com');
    const attempts = [
      ...Array.from({ length: 4 }, () => accept(body['token'], { body: newAccount('new@example.com') })),
      ...Array.from({ length: 4 }, () => accept(body['token'], { token: bob.token })),
    ];
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(1);
    expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
    expect(await accounts().database.members.count(team)).toBe(2);
    expect((await accept(body['token'], { token: bob.token })).body).toMatchObject({ code: 'INVITATION_NOT_FOUND' });
  });

  it('are refused when revoked, expired, unknown, or when the team is gone', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const [bob, notFound] = [await newUser(accounts(), 'bob@example.com'), { status: 404 }];
    const revoked = await invite(team, owner, 'a@example.com');
    const expired = await invite(team, owner, 'b@example.com', { expires_in: 60 });
    const orphaned = await invite(team, owner, 'c@example.com');
    const url = `/api/v1/teams/${team}/invitations/${String(revoked.body['id'])}`;
    expect((await call(accounts().app, 'DELETE', url, { token: owner.token })).status).toBe(200);
    expect(await call(accounts().app, 'DELETE', url, { token: owner.token })).toMatchObject(notFound);
    await accounts().clock.advance(60_000);
    const open = await call(accounts().app, 'GET', `/api/v1/teams/${team}/invitations`, { token: owner.token });
    expect(open.body).toMatchObject({ invitations: [{ id: orphaned.body['id'] }] });
    expect(JSON.stringify(open.body)).not.toContain(String(orphaned.body['token']));
    await call(accounts().app, 'DELETE', `/api/v1/teams/${team}`, { token: owner.token });
    for (const token of [revoked.body['token'], expired.body['token'], orphaned.body['token'], 'svc_inv_unknown']) {
      expect(await accept(token, { token: bob.token })).toMatchObject(notFound);
      expect(await accept(token, { body: newAccount('a@example.com') })).toMatchObject(notFound);
    }
  });

  it('end when the inviting admin leaves or loses the role', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const admin = await newUser(accounts(), 'bob@example.com');
    await joinTeam(accounts(), team, admin, 'admin');
    const { body } = await invite(team, admin, 'new@example.com');
    const url = `/api/v1/teams/${team}/members/${admin.id}`;
    await call(accounts().app, 'PATCH', url, { token: owner.token, body: { role: 'member' } });
    expect((await accept(body['token'], { body: newAccount('new@example.com') })).status).toBe(404);
  });

  it('give no account with another e-mail, and none of an existing user', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    await newUser(accounts(), 'bob@example.com');
    const { body } = await invite(team, owner, 'bob@example.com');
    const answers = [
      await accept(body['token'], { body: newAccount('eve@example.com') }),
      await accept(body['token'], { body: newAccount('bob@example.com') }),
      await accept(body['token'], { body: { email: 'bob@example.com' } }),
      await accept(body['token'], {}),
    ];
    expect(answers.map((answer) => answer.body['code'])).toEqual([
      'EMAIL_MISMATCH',
      'SIGN_IN_TO_ACCEPT',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
    ]);
    const other = await invite(team, owner, 'new@example.com');
    const weak = await accept(other.body['token'], { body: { ...newAccount('new@example.com'), password: 'short' } });
    expect(weak).toMatchObject({ status: 400, body: { code: 'PASSWORD_UNSUITABLE' } });
  });

  it('refuse service accounts, guests and revoked tokens, but not a browser with an ended session', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const { body } = await invite(team, owner, 'new@example.com');
    const machine = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['admin']);
    const guest = await call(accounts().app, 'POST', '/api/auth/guest', { body: { username: 'smoke' } });
    expect((await accept(body['token'], { token: machine.token })).status).toBe(403);
    expect((await accept(body['token'], { token: String(guest.body['token']) })).status).toBe(403);
    expect((await accept(body['token'], { token: 'wrong', body: newAccount('new@example.com') })).status).toBe(401);
    const cookies = { svc_session: 'svc_ses_over' };
    expect((await accept(body['token'], { cookies, body: newAccount('new@example.com') })).status).toBe(200);
  });

  it('do not outlive the API token that created them', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const latest = new Date(accounts().clock.nowMs() + 3600_000).toISOString();
    const { token } = await newApiToken(accounts(), owner, latest);
    const byToken = { ...owner, token };
    expect(await invite(team, byToken, 'b@example.com')).toMatchObject({ status: 201, body: { expires_at: latest } });
    expect((await invite(team, byToken, 'c@example.com', { expires_in: 60 })).status).toBe(201);
    expect(await invite(team, byToken, 'd@example.com', { expires_in: 3601 })).toMatchObject({
      status: 400,
      body: { code: 'EXPIRY_TOO_LATE', details: { field: 'expires_in', latest } },
    });
  });

  it('are refused for members, and limited in number like the team itself', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    expect((await invite(team, owner, 'ann@example.com')).body).toMatchObject({ code: 'ALREADY_MEMBER' });
    const many = await Promise.all(Array.from({ length: 6 }, (_, n) => invite(team, owner, `u${n}@example.com`)));
    expect(sortedStatuses(many)).toEqual([201, 201, 201, 201, 409, 409]);
    const open = many.filter(({ status }) => status === 201);
    expect((await accept(open[0]?.body['token'], { token: owner.token })).body).toMatchObject({
      code: 'ALREADY_MEMBER',
    });
    const accepted = await Promise.all(
      open.map(({ body }) => accept(body['token'], { body: newAccount(String(body['email'])) })),
    );
    expect(sortedStatuses(accepted)).toEqual([200, 200, 409, 409]);
    expect(await accounts().database.members.count(team)).toBe(3);
  });

  it('are refused when malformed', async () => {
    const { owner, team } = await createTeam('ann@example.com');
    const malformed = [{ email: 'nobody' }, { role: 'owner' }, { expires_in: 1 }, { expires_in: 31 * 86_400 }];
    for (const wrong of malformed) {
      expect(await invite(team, owner, 'new@example.com', wrong)).toMatchObject({ status: 400 });
    }
  });
});
