import { createCredentialRef } from '@svc/access';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call, type TestResponse } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newApiToken, newServiceAccount, newSshPublicKey, newUser, type TestUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const TEN_MINUTES_MS = 600_000;

describeDialects<unknown>('SSH keys', migrations, (database) => {
  const config = testConfig({ limits: { ssh_keys_per_user: 3 } });
  const accounts = useAccounts(database, () => ({ config }));
  const add = (token: string, publicKey = newSshPublicKey()) =>
    call(accounts().app, 'POST', '/api/ssh-keys', { token, body: { name: 'laptop', public_key: publicKey } });
  const list = (user: TestUser, query = '') =>
    call(accounts().app, 'GET', `/api/ssh-keys${query}`, { token: user.token });
  const remove = (token: string, id: unknown) =>
    call(accounts().app, 'DELETE', `/api/ssh-keys/${String(id)}`, { token });
  const logIn = (key: TestResponse) => accounts().module.access.authenticateSshKey(String(key.body['fingerprint']));
  const refused = { code: 'UNAUTHORIZED', status: 401 };

  it('are listed with their fingerprint, and log their user in', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const publicKey = newSshPublicKey();
    const made = await add(ann.token, `${publicKey} ann@laptop`);
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'laptop',
        type: 'ssh-ed25519',
        public_key: publicKey,
        fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/) as string,
        last_used_at: null,
      },
    });
    expect(await logIn(made)).toMatchObject({
      kind: 'user',
      id: ann.id,
      credential: 'ssh_key',
      credentialId: made.body['id'],
    });
    const used = { ...made.body, last_used_at: accounts().clock.now().toISOString() };
    expect((await list(ann)).body).toEqual({ ssh_keys: [used], next_cursor: null });
    expect((await list(await newUser(accounts(), 'bob@example.com'))).body).toMatchObject({ ssh_keys: [] });
  });

  it('log nobody in once removed, or once their user is gone', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const removed = await add(ann.token);
    const orphaned = await add(ann.token);
    const refOf = async (key: TestResponse) => createCredentialRef(await logIn(key), accounts().clock.now());
    const refs = [await refOf(removed), await refOf(orphaned)] as const;
    const { access } = accounts().module;
    expect(await remove(ann.token, removed.body['id'])).toMatchObject({ status: 200, body: { deleted: true } });
    await expect(logIn(removed)).rejects.toMatchObject(refused);
    await expect(access.recheck(refs[0])).rejects.toMatchObject(refused);
    expect(await access.recheck(refs[1])).toMatchObject({ id: ann.id });
    await accounts().database.workspaces.delete(ann.workspaceUuid);
    await accounts().database.users.delete(ann.id);
    await expect(logIn(orphaned)).rejects.toMatchObject(refused);
    await expect(access.recheck(refs[1])).rejects.toMatchObject(refused);
  });

  it('stay when their user signs out everywhere or changes the password, like API tokens', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const key = await add(ann.token);
    const ref = createCredentialRef(await logIn(key), accounts().clock.now());
    const body = { current_password: 'correct horse battery', new_password: 'another long password' };
    expect((await call(accounts().app, 'POST', '/api/auth/password', { token: ann.token, body })).status).toBe(200);
    const everywhere = await call(accounts().app, 'POST', '/api/auth/logout?everywhere=true', { token: ann.token });
    expect(everywhere.status).toBe(200);
    expect(await accounts().module.access.recheck(ref)).toMatchObject({ id: ann.id });
  });

  it('are added and removed only in a sign-in confirmed within ten minutes', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const { token } = await newApiToken(accounts(), ann);
    const account = await newServiceAccount(accounts(), ann, ann.workspaceUuid, ['admin']);
    const key = await add(ann.token);
    const byToken = { status: 403, body: { code: 'INTERACTIVE_SESSION_REQUIRED' } };
    expect(await add(token)).toMatchObject(byToken);
    expect(await remove(token, key.body['id'])).toMatchObject(byToken);
    expect(await add(account.token)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    await accounts().clock.advance(TEN_MINUTES_MS);
    const unconfirmed = { status: 403, body: { code: 'CONFIRMATION_REQUIRED' } };
    expect(await add(ann.token)).toMatchObject(unconfirmed);
    expect(await remove(ann.token, key.body['id'])).toMatchObject(unconfirmed);
    expect((await list(ann)).body['ssh_keys']).toHaveLength(1);
  });

  it('belong to one user only, and are removed by no other', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const publicKey = newSshPublicKey();
    const both = await Promise.all([add(ann.token, publicKey), add(bob.token, `${publicKey} another comment`)]);
    expect(sortedStatuses(both)).toEqual([201, 409]);
    expect(both.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'SSH_KEY_TAKEN' });
    const made = both.find(({ status }) => status === 201);
    const [owner, other] = both[0].status === 201 ? [ann, bob] : [bob, ann];
    for (const id of [made?.body['id'], 'no-such-key']) {
      expect(await remove(other.token, id)).toMatchObject({ status: 404, body: { code: 'SSH_KEY_NOT_FOUND' } });
    }
    expect((await list(owner)).body['ssh_keys']).toHaveLength(1);
  });

  it('are limited in number, even for concurrent requests, and listed in pages', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const made = await Promise.all(Array.from({ length: 5 }, () => add(ann.token)));
    expect(sortedStatuses(made)).toEqual([201, 201, 201, 409, 409]);
    const first = await list(ann, '?page_size=2');
    const second = await list(ann, `?page_size=2&cursor=${String(first.body['next_cursor'])}`);
    expect([first.body['ssh_keys'], second.body['ssh_keys']].map((page) => (page as unknown[]).length)).toEqual([2, 1]);
  });

  it('are recorded in the audit log', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const key = await add(ann.token);
    await remove(ann.token, key.body['id']);
    const { body } = await call(accounts().app, 'GET', '/api/v1/audit', { token: ann.token });
    const entries = body['entries'] as { action: string; resource: string; outcome: string }[];
    expect(entries.filter(({ action }) => action.startsWith('ssh-key:')).map(({ action }) => action)).toEqual([
      'ssh-key:delete',
      'ssh-key:create',
    ]);
    expect(entries[0]).toMatchObject({ resource: `ssh-key/${String(key.body['id'])}`, outcome: 'success' });
  });

  it('refuse malformed requests by field', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const post = (body: object) => call(accounts().app, 'POST', '/api/ssh-keys', { token: ann.token, body });
    const malformed = [{}, { name: 'x' }, { name: '', public_key: newSshPublicKey() }, { name: 'x', public_key: '' }];
    for (const body of [...malformed, { name: 'x', public_key: newSshPublicKey(), expires_at: null }]) {
      expect(await post(body), JSON.stringify(body)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    }
    expect(await post({ name: 'x', public_key: 'ssh-dss AAAA' })).toMatchObject({
      status: 400,
      body: { code: 'SSH_KEY_UNSUITABLE', details: { field: 'public_key' } },
    });
  });
});
