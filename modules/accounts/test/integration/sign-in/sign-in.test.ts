import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestAccounts, type TestAccounts } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { addUser, newApiToken, newUser, PASSWORD, signIn } from '../../support/test-people.ts';

describeDialects('sign-in', migrations, (database) => {
  let accounts: TestAccounts;
  beforeEach(async () => {
    accounts = await startTestAccounts(database());
  });
  afterEach(() => accounts.close());

  it('returns a token, the user and both cookies', async () => {
    await addUser(accounts, 'ann@example.com');
    const response = await call(accounts.app, 'POST', '/api/auth/login', {
      body: { email: ' Ann@Example.com ', password: PASSWORD },
    });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      user: { email: 'ann@example.com', name: 'ann', operator: false },
    });
    expect(response.headers['cache-control']).toBe('no-store');
    const session = response.cookies.find(({ name }) => name === 'svc_session');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/', maxAge: 30 * 86_400 });
    expect(session).not.toHaveProperty('secure');
    expect(response.cookies.find(({ name }) => name === 'svc_device')).toMatchObject({ httpOnly: true });
  });

  it('sets host-only, secure cookies over TLS', async () => {
    await addUser(accounts, 'ann@example.com');
    const headers = { 'x-forwarded-proto': 'https' };
    const body = { email: 'ann@example.com', password: PASSWORD };
    const { cookies } = await call(accounts.app, 'POST', '/api/auth/login', { body, headers });
    expect(cookies.map(({ name }) => name).sort()).toEqual(['__Host-svc_device', '__Host-svc_session']);
    for (const cookie of cookies) {
      expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
      expect(cookie).not.toHaveProperty('domain'); // the prefix forbids it
    }
    const session = cookies.find(({ name }) => name === '__Host-svc_session')?.value ?? '';
    const me = await call(accounts.app, 'GET', '/api/auth/me', { cookies: { '__Host-svc_session': session } });
    expect(me.status).toBe(200);
    const plain = await call(accounts.app, 'GET', '/api/auth/me', { cookies: { svc_session: session }, headers });
    expect(plain.status).toBe(401);
    const out = await call(accounts.app, 'POST', '/api/auth/logout', {
      cookies: { '__Host-svc_session': session },
      headers: { ...headers, 'x-csrf-token': String(me.body['csrf_token']) },
    });
    expect(out.cookies).toMatchObject([{ name: '__Host-svc_session', value: '', maxAge: 0, secure: true }]);
  });

  it('returns the same error for a wrong password and an unknown e-mail', async () => {
    await addUser(accounts, 'ann@example.com');
    const wrong = await call(accounts.app, 'POST', '/api/auth/login', {
      body: { email: 'ann@example.com', password: 'not the password' },
    });
    const unknown = await call(accounts.app, 'POST', '/api/auth/login', {
      body: { email: 'bob@example.com', password: 'not the password' },
    });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    expect(wrong.cookies).toEqual([]);
  });

  it.each(['cross-site', 'same-site'])('refuses a sign-in started by a page of another host (%s)', async (site) => {
    await addUser(accounts, 'ann@example.com');
    const response = await call(accounts.app, 'POST', '/api/auth/login', {
      body: { email: 'ann@example.com', password: PASSWORD },
      headers: { 'sec-fetch-site': site },
    });
    expect(response).toMatchObject({ status: 403, body: { code: 'CROSS_SITE_REQUEST' } });
  });

  it('refuses a user without a password', async () => {
    const user = await addUser(accounts, 'ann@example.com');
    await accounts.database.users.update(user.id, { passwordHash: null }, user.createdAt);
    const response = await call(accounts.app, 'POST', '/api/auth/login', {
      body: { email: 'ann@example.com', password: PASSWORD },
    });
    expect(response.status).toBe(401);
  });

  it('requires X-CSRF-Token for changes with a cookie, but not for reads', async () => {
    const user = await newUser(accounts, 'ann@example.com');
    const cookies = { svc_session: user.sessionCookie };
    const me = await call(accounts.app, 'GET', '/api/auth/me', { cookies });
    expect(me.status).toBe(200);
    const csrf = String(me.body['csrf_token']);

    const body = { name: 'from the console' };
    const attempts = [{}, { 'x-csrf-token': 'wrong' }, { 'x-csrf-token': csrf.slice(0, -1) }];
    for (const headers of attempts) {
      const refused = await call(accounts.app, 'POST', '/api/tokens', { cookies, headers, body });
      expect(refused).toMatchObject({ status: 403, body: { code: 'CSRF_TOKEN_INVALID' } });
    }
    const other = await newUser(accounts, 'bob@example.com');
    const foreign = await call(accounts.app, 'GET', '/api/auth/me', { cookies: { svc_session: other.sessionCookie } });
    const foreignHeaders = { 'x-csrf-token': String(foreign.body['csrf_token']) };
    expect((await call(accounts.app, 'POST', '/api/tokens', { cookies, headers: foreignHeaders, body })).status).toBe(
      403,
    );

    const made = await call(accounts.app, 'POST', '/api/tokens', { cookies, headers: { 'x-csrf-token': csrf }, body });
    expect(made.status).toBe(201);
  });

  it('returns no CSRF token to a bearer token, which needs none', async () => {
    const user = await newUser(accounts, 'ann@example.com');
    const me = await call(accounts.app, 'GET', '/api/auth/me', { token: user.token });
    expect(me.body).toMatchObject({
      csrf_token: null,
      credential: { kind: 'jwt' },
      workspace_uuid: user.workspaceUuid,
    });
  });

  it('never falls back to the cookie when there is an Authorization header', async () => {
    const user = await newUser(accounts, 'ann@example.com');
    const cookies = { svc_session: user.sessionCookie };
    for (const authorization of ['Bearer wrong', 'Basic abc', 'Bearer ', 'garbage']) {
      const response = await call(accounts.app, 'GET', '/api/auth/me', { cookies, headers: { authorization } });
      expect(response.status).toBe(401);
    }
  });

  it('signs out one session and its access token, and keeps others', async () => {
    await addUser(accounts, 'ann@example.com');
    const here = await signIn(accounts, 'ann@example.com');
    const there = await signIn(accounts, 'ann@example.com');
    const response = await call(accounts.app, 'POST', '/api/auth/logout', { token: here.token });
    expect(response).toMatchObject({ status: 200, body: { sessions_ended: 1 } });
    expect((await call(accounts.app, 'GET', '/api/auth/me', { token: here.token })).status).toBe(401);
    expect((await call(accounts.app, 'GET', '/api/auth/me', { token: there.token })).status).toBe(200);
  });

  it('signs out everywhere: ends every session and access token, and keeps API tokens', async () => {
    await addUser(accounts, 'ann@example.com');
    const one = await signIn(accounts, 'ann@example.com');
    const two = await signIn(accounts, 'ann@example.com');
    const apiToken = await newApiToken(accounts, one);
    const refused = await call(accounts.app, 'POST', '/api/auth/logout?everywhere=true', { token: apiToken.token });
    expect(refused).toMatchObject({ status: 403, body: { code: 'INTERACTIVE_SESSION_REQUIRED' } });
    await accounts.clock.advance(1_800_000); // no confirmation is required
    const response = await call(accounts.app, 'POST', '/api/auth/logout?everywhere=true', { token: one.token });
    expect(response).toMatchObject({ status: 200, body: { sessions_ended: 2 } });
    for (const user of [one, two]) {
      expect((await call(accounts.app, 'GET', '/api/auth/me', { token: user.token })).status).toBe(401);
      const cookies = { svc_session: user.sessionCookie };
      expect((await call(accounts.app, 'GET', '/api/auth/me', { cookies })).status).toBe(401);
    }
    expect((await call(accounts.app, 'GET', '/api/auth/me', { token: apiToken.token })).status).toBe(200);
    expect((await signIn(accounts, 'ann@example.com')).token).not.toBe('');
  });

  it('ends sessions by age and inactivity', async () => {
    const user = await newUser(accounts, 'ann@example.com');
    const cookies = { svc_session: user.sessionCookie };
    for (let day = 0; day < 29; day++) {
      await accounts.clock.advance(86_400_000);
      expect((await call(accounts.app, 'GET', '/api/auth/me', { cookies })).status).toBe(200);
    }
    await accounts.clock.advance(86_400_000);
    expect((await call(accounts.app, 'GET', '/api/auth/me', { cookies })).status).toBe(401);

    const idle = await signIn(accounts, 'ann@example.com');
    await accounts.clock.advance(7 * 86_400_000);
    expect(
      (await call(accounts.app, 'GET', '/api/auth/me', { cookies: { svc_session: idle.sessionCookie } })).status,
    ).toBe(401);
  });

  it('keeps a limited number of sessions per user, the newest', async () => {
    await accounts.close();
    accounts = await startTestAccounts(database(), {
      config: testConfig({ session: { max_per_user: 2 } }),
    });
    await addUser(accounts, 'ann@example.com');
    const signIns = [];
    for (let count = 0; count < 3; count++) {
      signIns.push(await signIn(accounts, 'ann@example.com'));
      await accounts.clock.advance(1000);
    }
    const statuses = [];
    for (const { token } of signIns) statuses.push((await call(accounts.app, 'GET', '/api/auth/me', { token })).status);
    expect(statuses).toEqual([401, 200, 200]);
  });

  it('stores no secret in plain text', async () => {
    const user = await newUser(accounts, 'ann@example.com');
    const { token } = await newApiToken(accounts, user);
    const kysely = database().kysely;
    const dump = JSON.stringify([
      await kysely
        .selectFrom('account_user' as never)
        .selectAll()
        .execute(),
      await kysely
        .selectFrom('account_session' as never)
        .selectAll()
        .execute(),
      await kysely
        .selectFrom('account_device' as never)
        .selectAll()
        .execute(),
      await kysely
        .selectFrom('account_api_token' as never)
        .selectAll()
        .execute(),
      await kysely
        .selectFrom('account_audit' as never)
        .selectAll()
        .execute(),
    ]);
    for (const secret of [PASSWORD, user.sessionCookie, user.deviceCookie, token]) expect(dump).not.toContain(secret);
  });
});
