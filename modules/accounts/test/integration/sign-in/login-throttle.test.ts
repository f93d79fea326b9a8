import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call, type TestResponse } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { addUser, newApiToken, newUser, PASSWORD, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('login throttling', migrations, (database) => {
  const config = testConfig({ throttle: { address_burst: 8, account_burst: 12, free_failures: 3 } });
  const accounts = useAccounts(database, () => ({ config }));

  const login = (
    email: string,
    password: string,
    remoteAddress = '198.51.100.1',
    device?: string,
  ): Promise<TestResponse> =>
    call(accounts().app, 'POST', '/api/auth/login', {
      body: { email, password },
      remoteAddress,
      ...(device === undefined ? {} : { cookies: { svc_device: device } }),
    });

  it('tolerates a few typos, then makes each further failure wait longer', async () => {
    await addUser(accounts(), 'ann@example.com');
    const fail = () => login('ann@example.com', 'wrong password');
    for (let count = 0; count < 4; count++) expect((await fail()).status).toBe(401);
    for (const delaySeconds of [1, 2, 4]) {
      const early = await fail();
      expect(early).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } });
      expect(early.headers['retry-after']).toBe(String(delaySeconds));
      await accounts().clock.advance(delaySeconds * 1000);
      expect((await fail()).status).toBe(401);
    }
  });

  it('does not check the password during the wait, and does after it', async () => {
    await addUser(accounts(), 'ann@example.com');
    for (let count = 0; count < 4; count++) await login('ann@example.com', 'wrong password');
    expect((await login('ann@example.com', PASSWORD)).status).toBe(429);
    await accounts().clock.advance(1000);
    expect((await login('ann@example.com', PASSWORD)).status).toBe(200);
    expect((await login('ann@example.com', 'wrong password')).status).toBe(401);
    expect((await login('ann@example.com', 'wrong password')).status).toBe(401);
  });

  it('counts concurrent attempts one by one', async () => {
    await addUser(accounts(), 'ann@example.com');
    const answers = await Promise.all(Array.from({ length: 10 }, () => login('ann@example.com', 'wrong password')));
    const statuses = sortedStatuses(answers);
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, 429, 429, 429, 429]);
  });

  it('refuses none of many concurrent correct ones', async () => {
    await addUser(accounts(), 'ann@example.com');
    const answers = await Promise.all(Array.from({ length: 12 }, () => login('ann@example.com', PASSWORD)));
    expect(new Set(sortedStatuses(answers))).toEqual(new Set([200]));
  });

  it('throttles unknown e-mails in the same way', async () => {
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push((await login('nobody@example.com', 'wrong')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 429]);
  });

  it('throttles one address for failures across many accounts, but no other address', async () => {
    for (let count = 0; count < 8; count++) expect((await login(`user${count}@example.com`, 'wrong')).status).toBe(401);
    expect((await login('user8@example.com', 'wrong')).status).toBe(429);
    expect((await login('user8@example.com', 'wrong', '198.51.100.2')).status).toBe(401);
    await accounts().clock.advance(6_000); // ten per minute are restored
    expect((await login('user9@example.com', 'wrong')).status).toBe(401);
  });

  it('treats an IPv6 network as one address', async () => {
    for (let count = 0; count < 8; count++) await login(`user${count}@example.com`, 'wrong', `2001:db8::${count}`);
    expect((await login('user8@example.com', 'wrong', '2001:db8::ffff')).status).toBe(429);
    expect((await login('user8@example.com', 'wrong', '2001:db8:0:1::1')).status).toBe(401);
  });

  it('does not charge successful sign-ins', async () => {
    await addUser(accounts(), 'ann@example.com');
    for (let count = 0; count < 20; count++) expect((await login('ann@example.com', PASSWORD)).status).toBe(200);
  });

  it('throttles many addresses at one account, but not the user in a known browser', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const token = await newApiToken(accounts(), user);
    for (let count = 0; count < 12; count++) {
      expect((await login('ann@example.com', 'wrong', `203.0.113.${count}`)).status).toBe(401);
    }
    expect((await login('ann@example.com', PASSWORD, '203.0.113.200')).status).toBe(429);

    expect((await login('ann@example.com', PASSWORD, '203.0.113.200', user.deviceCookie)).status).toBe(200);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: token.token })).status).toBe(200);
    const cookies = { svc_session: user.sessionCookie };
    expect((await call(accounts().app, 'GET', '/api/auth/me', { cookies })).status).toBe(200);
  });

  it('throttles a known browser by its own failures, and trusts it only for its own user', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const guess = () => login('ann@example.com', 'wrong', '198.51.100.7', ann.deviceCookie);
    for (let count = 0; count < 4; count++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    for (let count = 0; count < 12; count++) await login('ann@example.com', 'wrong', `203.0.113.${count}`);
    expect((await login('ann@example.com', PASSWORD, '203.0.113.200', bob.deviceCookie)).status).toBe(429);
  });

  it('forgets known browsers when the password changes', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    expect((await call(accounts().app, 'POST', '/api/auth/password', { token: ann.token, body })).status).toBe(200);
    for (let count = 0; count < 12; count++) await login('ann@example.com', 'wrong', `203.0.113.${count}`);
    const fresh = 'another long password';
    expect((await login('ann@example.com', fresh, '203.0.113.200', ann.deviceCookie)).status).toBe(429);
  });

  it('throttles guesses of the current password through an open session', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const body = { current_password: 'wrong', new_password: 'another long password' };
    const statuses = [];
    for (let count = 0; count < 5; count++) {
      statuses.push((await call(accounts().app, 'POST', '/api/auth/password', { token: ann.token, body })).status);
    }
    expect(statuses).toEqual([403, 403, 403, 403, 429]);
    expect((await signIn(accounts(), 'ann@example.com')).token).not.toBe('');
  });
});
