import { createCredentialRef } from '@svc/access';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startLocalIssuer, type LocalIssuer } from '../../support/local-issuer.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newApiToken, newServiceAccount, newUser, PASSWORD } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const AUDIENCE = 'svc-test';
const TEN_MINUTES_MS = 600_000;

describeDialects<unknown>('sign-in confirmation', migrations, (database) => {
  let issuer: LocalIssuer;
  beforeEach(async () => {
    issuer = await startLocalIssuer();
  });
  afterEach(() => issuer.close());
  const accounts = useAccounts(database, () => ({
    config: testConfig({
      trusted_issuers: [
        {
          issuer: issuer.issuer,
          audience: AUDIENCE,
          jwks_url: issuer.jwksUrl,
          email_claim: 'email',
          require_verified_email: true,
          auto_create: true,
        },
      ],
    }),
  }));
  const fresh = 'another long password';
  const makeToken = (token: string) => call(accounts().app, 'POST', '/api/tokens', { token, body: { name: 'x' } });
  const confirm = (token: string, password: string) =>
    call(accounts().app, 'POST', '/api/auth/confirm', { token, body: { password } });
  const change = (token: string, current: string) =>
    call(accounts().app, 'POST', '/api/auth/password', {
      token,
      body: { current_password: current, new_password: fresh },
    });
  const unconfirmed = { status: 403, body: { code: 'CONFIRMATION_REQUIRED' } };

  it('allows token and password changes for ten minutes, and again after the password is entered', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    await accounts().clock.advance(TEN_MINUTES_MS - 1);
    const made = await makeToken(user.token);
    expect(made.status).toBe(201);
    await accounts().clock.advance(1);
    expect(await makeToken(user.token)).toMatchObject(unconfirmed);
    expect(await change(user.token, PASSWORD)).toMatchObject(unconfirmed);
    const revoke = `/api/tokens/${String(made.body['id'])}`;
    expect(await call(accounts().app, 'DELETE', revoke, { token: user.token })).toMatchObject(unconfirmed);

    const until = new Date(accounts().clock.nowMs() + TEN_MINUTES_MS).toISOString();
    expect(await confirm(user.token, PASSWORD)).toMatchObject({ status: 200, body: { confirmed_until: until } });
    expect((await makeToken(user.token)).status).toBe(201);
    expect((await call(accounts().app, 'DELETE', revoke, { token: user.token })).status).toBe(200);
    expect((await change(user.token, PASSWORD)).status).toBe(200);
  });

  it('applies only to the session that asked', async () => {
    const here = await newUser(accounts(), 'ann@example.com');
    await accounts().clock.advance(TEN_MINUTES_MS);
    const cookies = { svc_session: here.sessionCookie };
    const me = await call(accounts().app, 'GET', '/api/auth/me', { cookies });
    const headers = { 'x-csrf-token': String(me.body['csrf_token']) };
    const byCookie = (path: string, body: object) => call(accounts().app, 'POST', path, { cookies, headers, body });
    expect(await byCookie('/api/tokens', { name: 'x' })).toMatchObject(unconfirmed);
    const other = await call(accounts().app, 'POST', '/api/auth/login', {
      body: { email: here.email, password: PASSWORD },
    });
    expect((await makeToken(String(other.body['access_token']))).status).toBe(201);
    expect(await byCookie('/api/tokens', { name: 'x' })).toMatchObject(unconfirmed);
    expect((await byCookie('/api/auth/confirm', { password: PASSWORD })).status).toBe(200);
    expect((await byCookie('/api/tokens', { name: 'x' })).status).toBe(201);
  });

  it('throttles wrong passwords like sign-ins, and records them in the audit log', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    await accounts().clock.advance(TEN_MINUTES_MS);
    for (let failures = 0; failures < 6; failures += 1) {
      expect(await confirm(user.token, 'wrong')).toMatchObject({
        status: 403,
        body: { code: 'WRONG_PASSWORD', details: { field: 'password' } },
      });
    }
    expect(await confirm(user.token, PASSWORD)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } });
    expect(await makeToken(user.token)).toMatchObject(unconfirmed);
    await accounts().clock.advance(1000);
    expect((await confirm(user.token, PASSWORD)).status).toBe(200);
    const audit = await call(accounts().app, 'GET', '/api/v1/audit?action=session:confirm', { token: user.token });
    expect(audit.body['entries']).toMatchObject([
      { outcome: 'success', status: 200 },
      { outcome: 'refused', status: 429 },
      ...Array.from({ length: 6 }, () => ({ outcome: 'refused', status: 403 })),
    ]);
  });

  it('is not available to API tokens and service accounts, even with the password', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const { token } = await newApiToken(accounts(), user);
    const refusal = { status: 403, body: { code: 'INTERACTIVE_SESSION_REQUIRED' } };
    expect(await confirm(token, PASSWORD)).toMatchObject(refusal);
    expect(await change(token, PASSWORD)).toMatchObject(refusal);
    const machine = await newServiceAccount(accounts(), user, user.workspaceUuid, ['admin']);
    expect(await confirm(machine.token, PASSWORD)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('accepts a sign-in at an external issuer within the last ten minutes', async () => {
    const now = accounts().clock.now();
    const claims = { sub: 'ann', email: 'ann@example.com', email_verified: true };
    const seconds = Math.floor(now.getTime() / 1000);
    const recent = await issuer.sign({ ...claims, auth_time: seconds - 599 }, now, 3600);
    const old = await issuer.sign({ ...claims, auth_time: seconds - 600 }, now, 3600);
    const silent = await issuer.sign(claims, now, 3600);
    expect((await makeToken(recent)).status).toBe(201);
    expect((await makeToken(silent)).status).toBe(201);
    const refused = await makeToken(old);
    expect(refused).toMatchObject(unconfirmed);
    expect(refused.body['message']).toContain('identity provider');
    expect(await confirm(old, 'anything')).toMatchObject(unconfirmed);
    await accounts().clock.advance(TEN_MINUTES_MS);
    expect(await makeToken(silent)).toMatchObject(unconfirmed);
  });

  it('lasts at an external issuer while a request is held, but not beyond ten minutes', async () => {
    const now = accounts().clock.now();
    const token = await issuer.sign({ sub: 'ann', email: 'ann@example.com', email_verified: true }, now, 3600);
    const { access } = accounts().module;
    const source = { method: 'POST', remoteAddress: '127.0.0.1', isSecure: false };
    const principal = await access.authenticate({ ...source, headers: { authorization: `Bearer ${token}` } });
    const ref = createCredentialRef(principal, now);
    await access.permit(await access.recheck(ref), 'token:create');
    await accounts().clock.advance(TEN_MINUTES_MS);
    await expect(access.permit(await access.recheck(ref), 'token:create')).rejects.toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    });
  });

  it('does not allow a first password, however recent it is', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    await accounts().database.users.update(user.id, { passwordHash: null }, accounts().clock.now().toISOString());
    expect(await change(user.token, '')).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(await change(user.token, 'anything')).toMatchObject({ status: 409, body: { code: 'PASSWORD_NOT_SET' } });
    const { token } = await newApiToken(accounts(), user);
    expect(await change(token, 'anything')).toMatchObject({ status: 403 });
    expect((await accounts().database.users.byId(user.id))?.passwordHash).toBeNull();
  });
});
