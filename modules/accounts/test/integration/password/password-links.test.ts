import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call } from '../../support/test-client.ts';
import { newApiToken, newUser, PASSWORD, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const DAY_MS = 86_400_000;

describeDialects<unknown>('password links', migrations, (database) => {
  const accounts = useAccounts(database);
  const fresh = 'another long password';
  const use = (token: string, password = fresh) =>
    call(accounts().app, 'POST', '/api/auth/password/link', { body: { token, new_password: password } });
  const makeLink = async (email: string) => {
    const { url, expiresAt } = await accounts().module.createPasswordLink(email);
    const [page = '', secret = ''] = url.split('#');
    return { page, secret, expiresAt };
  };
  const gone = { status: 404, body: { code: 'PASSWORD_LINK_NOT_FOUND' } };

  it('set a first password once, end every session and keep API tokens', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const { token } = await newApiToken(accounts(), user);
    await accounts().database.users.update(user.id, { passwordHash: null }, accounts().clock.now().toISOString());
    const { page, secret, expiresAt } = await makeLink(' Ann@Example.com ');
    expect(page).toBe('http://console.test/set-password');
    expect(secret).toMatch(/^svc_pwd_[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(expiresAt) - accounts().clock.nowMs()).toBe(DAY_MS);
    expect(await use(secret)).toMatchObject({ status: 200, body: { sessions_ended: 1 } });
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: user.token })).status).toBe(401);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token })).status).toBe(200);
    const again = await signIn(accounts(), user.email, fresh);
    expect(await use(secret)).toMatchObject(gone);
    const audit = await call(accounts().app, 'GET', '/api/v1/audit?action=password-link:use', { token: again.token });
    expect(audit.body['entries']).toMatchObject([{ resource: `user/${user.id}`, outcome: 'success' }]);
    expect(JSON.stringify(audit.body)).not.toContain(secret);
    const command = '/api/v1/audit?action=password-link:create';
    const made = await call(accounts().app, 'GET', command, { token: again.token });
    expect(made.body['entries']).toMatchObject([{ resource: `user/${user.id}`, details: { by: 'svc admin' } }]);
  });

  it('expire after a day, with the next link, and on a password change', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const first = await makeLink(user.email);
    const second = await makeLink(user.email);
    expect(await use(first.secret)).toMatchObject(gone);
    const body = { current_password: PASSWORD, new_password: fresh };
    expect((await call(accounts().app, 'POST', '/api/auth/password', { token: user.token, body })).status).toBe(200);
    expect(await use(second.secret)).toMatchObject(gone);
    const third = await makeLink(user.email);
    await accounts().clock.advance(DAY_MS);
    expect(await use(third.secret)).toMatchObject(gone);
    expect((await signIn(accounts(), user.email, fresh)).id).toBe(user.id);
  });

  it('stay valid when a password is refused, and work for exactly one of many requests', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const { secret } = await makeLink(user.email);
    expect(await use(secret, 'short')).toMatchObject({ status: 400, body: { code: 'PASSWORD_UNSUITABLE' } });
    const answers = await Promise.all([use(secret), use(secret), use(secret)]);
    expect(sortedStatuses(answers)).toEqual([200, 404, 404]);
  });

  it('are refused when wrong or malformed, and can be created only for users', async () => {
    expect(await use('svc_pwd_wrong')).toMatchObject(gone);
    const empty = await call(accounts().app, 'POST', '/api/auth/password/link', { body: {} });
    expect(empty).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    await expect(makeLink('nobody@example.com')).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });
});
