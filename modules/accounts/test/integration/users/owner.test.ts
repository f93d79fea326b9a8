import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { startTestAccounts } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { addUser, newApiToken, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('the owner of the installation', migrations, (database) => {
  const accounts = useAccounts(database);

  it('is created on the first start with a generated password, and never again', async () => {
    const first = await accounts().module.ensureOwner({});
    expect(first).toMatchObject({ created: true, email: 'owner@localhost' });
    expect(first.generatedPassword).toMatch(/^[\w-]{24}$/);
    const owner = await signIn(accounts(), 'owner@localhost', first.generatedPassword ?? '');
    expect(owner.workspaceUuid).toBe(first.workspaceUuid);
    const me = await call(accounts().app, 'GET', '/api/auth/me', { token: owner.token });
    expect(me.body).toMatchObject({ user: { operator: true, name: 'Owner' } });
    const second = await accounts().module.ensureOwner({ email: 'other@example.com', password: 'another password' });
    expect(second).toEqual({ ...first, created: false, generatedPassword: null });
  });

  it('takes the given e-mail and password', async () => {
    const made = await accounts().module.ensureOwner({ email: 'Boss@Example.com', password: 'a given password' });
    expect(made).toMatchObject({ email: 'boss@example.com', generatedPassword: null, created: true });
    expect((await signIn(accounts(), 'boss@example.com', 'a given password')).id).toBe(made.userId);
  });

  it('is created once, even if two replicas start at the same time', async () => {
    const replica = await startTestAccounts(database());
    const both = await Promise.all([accounts().module.ensureOwner({}), replica.module.ensureOwner({})]);
    expect(both.filter(({ created }) => created).length).toBe(1);
    expect(both[0].userId).toBe(both[1].userId);
    await replica.close();
  });

  it("is refused with an invalid e-mail, a weak password, or another user's e-mail", async () => {
    const { module } = accounts();
    await expect(module.ensureOwner({ email: 'nobody' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(module.ensureOwner({ password: 'short' })).rejects.toMatchObject({ code: 'PASSWORD_UNSUITABLE' });
    await addUser(accounts(), 'owner@localhost');
    await expect(module.ensureOwner({})).rejects.toMatchObject({ code: 'EMAIL_TAKEN' });
    await expect(module.issueStartToken('replica a')).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });

  it('gets a new API token with each start, which revokes the previous one', async () => {
    const owner = await accounts().module.ensureOwner({});
    const first = await accounts().module.issueStartToken('replica a');
    const other = await accounts().module.issueStartToken('replica b');
    const second = await accounts().module.issueStartToken('replica a');
    expect(second).toMatchObject({ userId: owner.userId, workspaceUuid: owner.workspaceUuid });
    const status = async (token: string) => (await call(accounts().app, 'GET', '/api/auth/me', { token })).status;
    expect(await Promise.all([first, other, second].map(({ token }) => status(token)))).toEqual([401, 200, 200]);
  });

  it('revokes the start token of an older version, which named no replica, but no token of another replica', async () => {
    const { module } = accounts();
    await module.ensureOwner({});
    const older = await module.issueStartToken('svc up');
    const other = await module.issueStartToken('replica b');
    const status = async (token: string) => (await call(accounts().app, 'GET', '/api/auth/me', { token })).status;
    await module.issueStartToken('replica a', other.token);
    expect(await Promise.all([older, other].map(({ token }) => status(token)))).toEqual([200, 200]);
    await module.issueStartToken('replica a', older.token);
    expect(await Promise.all([older, other].map(({ token }) => status(token)))).toEqual([401, 200]);
  });

  it('resets a password: ends every session and keeps API tokens', async () => {
    const owner = await accounts().module.ensureOwner({ password: 'a given password' });
    const session = await signIn(accounts(), 'owner@localhost', 'a given password');
    const { token } = await newApiToken(accounts(), session);
    const reset = await accounts().module.resetPassword('OWNER@localhost', 'the password after');
    expect(reset).toEqual({ userId: owner.userId, sessionsEnded: 1 });
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: session.token })).status).toBe(401);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token })).status).toBe(200);
    await expect(signIn(accounts(), 'owner@localhost', 'a given password')).rejects.toThrow('401');
    expect((await signIn(accounts(), 'owner@localhost', 'the password after')).id).toBe(owner.userId);
    const { module } = accounts();
    await expect(module.resetPassword('nobody@localhost', 'x'.repeat(9))).rejects.toMatchObject({
      code: 'USER_NOT_FOUND',
    });
    await expect(module.resetPassword('owner@localhost', 'short')).rejects.toMatchObject({
      code: 'PASSWORD_UNSUITABLE',
    });
  });
});
