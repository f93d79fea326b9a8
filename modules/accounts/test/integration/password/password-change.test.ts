import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { startTestAccounts } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { addUser, newUser, PASSWORD, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('password change', migrations, (database) => {
  const accounts = useAccounts(database);
  const change = (token: string, body: Record<string, string>) =>
    call(accounts().app, 'POST', '/api/auth/password', { token, body });
  const fresh = 'another long password';

  it('keeps the current session and ends the others', async () => {
    const here = await newUser(accounts(), 'ann@example.com');
    const there = await signIn(accounts(), 'ann@example.com');
    expect(await change(here.token, { current_password: PASSWORD, new_password: fresh })).toMatchObject({
      status: 200,
      body: { sessions_ended: 1 },
    });
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: here.token })).status).toBe(200);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: there.token })).status).toBe(401);
    await expect(signIn(accounts(), 'ann@example.com')).rejects.toThrow('401');
    expect((await signIn(accounts(), 'ann@example.com', fresh)).id).toBe(here.id);
  });

  it('requires the current password', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const wrong = await change(user.token, { current_password: 'wrong', new_password: fresh });
    expect(wrong).toMatchObject({
      status: 403,
      body: { code: 'WRONG_PASSWORD', details: { field: 'current_password' } },
    });
    const without = await change(user.token, { new_password: fresh });
    expect(without).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it('refuses short or repetitive passwords and the e-mail address', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    for (const password of ['short', 'a'.repeat(20), 'ann@example.com', 'ANN@example.com']) {
      const answer = await change(user.token, { current_password: PASSWORD, new_password: password });
      expect(answer).toMatchObject({ status: 400, body: { code: 'PASSWORD_UNSUITABLE' } });
    }
  });

  it('rehashes with new parameters at the next sign-in', async () => {
    const user = await addUser(accounts(), 'ann@example.com');
    const config = testConfig({ password: { passes: 3 } });
    const stronger = await startTestAccounts(database(), { config });
    await signIn(stronger, 'ann@example.com');
    expect((await accounts().database.users.byId(user.id))?.passwordHash).toContain('t=3');
    await signIn(stronger, 'ann@example.com');
    await stronger.close();
  });
});
