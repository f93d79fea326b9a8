import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newApiToken, newServiceAccount, newUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('service accounts', migrations, (database) => {
  const config = testConfig({ limits: { service_accounts_per_workspace: 3 } });
  const accounts = useAccounts(database, () => ({ config }));
  const inSeconds = (seconds: number) => new Date(accounts().clock.nowMs() + seconds * 1000).toISOString();
  const urlOf = (workspace: string) => `/api/v1/workspaces/${workspace}/service-accounts`;

  it('belong to one workspace and report who they are', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const { id, token } = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['read', 'write']);
    expect(token).toMatch(/^sat_[A-Za-z0-9_-]{43}$/);
    const me = await call(accounts().app, 'GET', '/api/auth/me', { token });
    expect(me.body).toMatchObject({
      user: null,
      service_account: { id, scopes: ['read', 'write'] },
      workspace_uuid: owner.workspaceUuid,
    });
    const listed = await call(accounts().app, 'GET', '/api/v1/workspaces', { token });
    expect(listed.body).toMatchObject({ workspaces: [{ uuid: owner.workspaceUuid, role: 'service_account' }] });
  });

  it('have a key for E2B clients on request, with the same rights and the same end', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const url = urlOf(owner.workspaceUuid);
    const body = { name: 'agents', scopes: ['write'], token_format: 'e2b' };
    const made = await call(accounts().app, 'POST', url, { token: owner.token, body });
    const token = String(made.body['token']);
    expect(token).toMatch(/^e2b_[0-9a-f]{40}$/);
    const me = await call(accounts().app, 'GET', '/api/auth/me', { token });
    expect(me.body).toMatchObject({ service_account: { id: made.body['id'], scopes: ['write'] } });
    const wider = { ...body, scopes: ['admin'] };
    expect((await call(accounts().app, 'POST', url, { token, body: wider })).status).toBe(403);
    await call(accounts().app, 'DELETE', `${url}/${String(made.body['id'])}`, { token: owner.token });
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token })).status).toBe(401);
    const unknown = { ...body, token_format: 'other' };
    expect((await call(accounts().app, 'POST', url, { token: owner.token, body: unknown })).status).toBe(400);
  });

  it('are listed without their secret, revoked at once, and visible only in their workspace', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const other = await newUser(accounts(), 'bob@example.com');
    const { id, token } = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['admin']);
    const listed = await call(accounts().app, 'GET', urlOf(owner.workspaceUuid), { token });
    expect(listed.body).toMatchObject({
      service_accounts: [{ id, last_used_at: accounts().clock.now().toISOString() }],
    });
    expect(JSON.stringify(listed.body)).not.toContain(token);
    const foreign = `${urlOf(other.workspaceUuid)}/${id}`;
    expect((await call(accounts().app, 'DELETE', foreign, { token: other.token })).status).toBe(404);
    const gone = await call(accounts().app, 'DELETE', `${urlOf(owner.workspaceUuid)}/${id}`, { token: owner.token });
    expect(gone.status).toBe(200);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token })).status).toBe(401);
  });

  it('are renamed by admins of their workspace, and keep their token', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const other = await newUser(accounts(), 'bob@example.com');
    const { id, token } = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['write']);
    const rename = (workspace: string, caller: string, name = 'other') =>
      call(accounts().app, 'PATCH', `${urlOf(workspace)}/${id}`, { token: caller, body: { name } });
    expect(await rename(owner.workspaceUuid, owner.token)).toMatchObject({ status: 200, body: { id, name: 'other' } });
    const listed = await call(accounts().app, 'GET', urlOf(owner.workspaceUuid), { token: owner.token });
    expect(listed.body).toMatchObject({ service_accounts: [{ id, name: 'other' }] });
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token })).status).toBe(200);
    expect((await rename(owner.workspaceUuid, token)).status).toBe(403);
    expect((await rename(other.workspaceUuid, other.token)).status).toBe(404);
    expect((await rename(owner.workspaceUuid, other.token)).status).toBe(404);
    expect((await rename(owner.workspaceUuid, owner.token, ' ')).status).toBe(400);
  });

  it('are keys to other modules, which rename and revoke none of another workspace', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const other = await newUser(accounts(), 'bob@example.com');
    const { apiKeys, access } = accounts().module;
    const headers = { authorization: `Bearer ${owner.token}` };
    const source = { headers, method: 'POST', remoteAddress: '127.0.0.1', isSecure: false };
    const principal = await access.authenticate(source);
    const { key, secret } = await apiKeys.create(owner.workspaceUuid, 'agents', principal);
    const me = await call(accounts().app, 'GET', '/api/auth/me', { token: secret });
    expect(me.body).toMatchObject({ service_account: { id: key.id, scopes: ['write'] } });
    const missing = { status: 404, code: 'SERVICE_ACCOUNT_NOT_FOUND' };
    await expect(apiKeys.rename(other.workspaceUuid, key.id, 'x')).rejects.toMatchObject(missing);
    await expect(apiKeys.revoke(other.workspaceUuid, key.id)).rejects.toMatchObject(missing);
    expect(await apiKeys.list(other.workspaceUuid)).toEqual([]);
    await apiKeys.rename(owner.workspaceUuid, key.id, 'renamed');
    expect(await apiKeys.list(owner.workspaceUuid)).toMatchObject([
      { id: key.id, name: 'renamed', createdBy: owner.id },
    ]);
    await apiKeys.revoke(owner.workspaceUuid, key.id);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: secret })).status).toBe(401);
  });

  it('end with the API token or the service account that created them, through any number of levels', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const url = urlOf(owner.workspaceUuid);
    const make = async (token: string) => {
      const made = await call(accounts().app, 'POST', url, { token, body: { name: 'x', scopes: ['admin'] } });
      expect(made.status).toBe(201);
      return { id: String(made.body['id']), token: String(made.body['token']) };
    };
    const alive = async (token: string) => (await call(accounts().app, 'GET', '/api/auth/me', { token })).status;
    const apiToken = await newApiToken(accounts(), owner);
    const child = await make(apiToken.token);
    const grandchild = await make(child.token);
    const own = await make(owner.token);
    expect([await alive(child.token), await alive(grandchild.token)]).toEqual([200, 200]);
    const revoked = await call(accounts().app, 'DELETE', `/api/tokens/${apiToken.id}`, { token: owner.token });
    expect(revoked.status).toBe(200);
    expect([await alive(child.token), await alive(grandchild.token), await alive(own.token)]).toEqual([401, 401, 200]);
    const ofOwn = await make(own.token);
    await call(accounts().app, 'DELETE', `${url}/${own.id}`, { token: owner.token });
    expect(await alive(ofOwn.token)).toBe(401);
  });

  it('outlive the start token, which each start replaces', async () => {
    const password = 'the owner password';
    await accounts().module.ensureOwner({ password });
    const { token: startToken } = await accounts().module.issueStartToken('replica a');
    const principal = await call(accounts().app, 'GET', '/api/auth/me', { token: startToken });
    const url = urlOf(String(principal.body['workspace_uuid']));
    const made = await call(accounts().app, 'POST', url, { token: startToken, body: { name: 'x', scopes: ['read'] } });
    expect(made.status).toBe(201);
    await accounts().module.issueStartToken('replica a');
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: startToken })).status).toBe(401);
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: String(made.body['token']) })).status).toBe(200);
  });

  it('cannot create one that outlives them or has more rights', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const url = urlOf(owner.workspaceUuid);
    const { token } = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['admin'], inSeconds(60));
    const make = (body: Record<string, unknown>) => call(accounts().app, 'POST', url, { token, body });
    const later = await make({ name: 'x', scopes: ['read'], expires_at: inSeconds(61) });
    expect(later).toMatchObject({ status: 400, body: { code: 'EXPIRY_TOO_LATE' } });
    expect((await make({ name: 'x', scopes: ['read'] })).body['expires_at']).toBe(inSeconds(60));
    const reader = await newServiceAccount(accounts(), owner, owner.workspaceUuid, ['read']);
    const refused = await call(accounts().app, 'POST', url, {
      token: reader.token,
      body: { name: 'x', scopes: ['read'] },
    });
    expect(refused.status).toBe(403);
  });

  it('do not outlive the API token of the user who creates them', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const { token } = await newApiToken(accounts(), owner, inSeconds(60));
    const make = (body: Record<string, unknown>) =>
      call(accounts().app, 'POST', urlOf(owner.workspaceUuid), {
        token,
        body: { name: 'x', scopes: ['admin'], ...body },
      });
    expect(await make({})).toMatchObject({ status: 201, body: { expires_at: inSeconds(60) } });
    expect(await make({ expires_at: inSeconds(30) })).toMatchObject({
      status: 201,
      body: { expires_at: inSeconds(30) },
    });
    expect(await make({ expires_at: inSeconds(61) })).toMatchObject({
      status: 400,
      body: { code: 'EXPIRY_TOO_LATE', details: { field: 'expires_at', latest: inSeconds(60) } },
    });
  });

  it('are limited per workspace, even for concurrent requests', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    const body = { name: 'x', scopes: ['read'] };
    const make = () => call(accounts().app, 'POST', urlOf(owner.workspaceUuid), { token: owner.token, body });
    const made = await Promise.all(Array.from({ length: 6 }, make));
    expect(sortedStatuses(made)).toEqual([201, 201, 201, 409, 409, 409]);
  });

  it('refuse malformed requests', async () => {
    const owner = await newUser(accounts(), 'ann@example.com');
    for (const scopes of [undefined, [], ['root'], ['read', 'read'], 'read']) {
      const body = { name: 'x', ...(scopes === undefined ? {} : { scopes }) };
      const answer = await call(accounts().app, 'POST', urlOf(owner.workspaceUuid), { token: owner.token, body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    }
  });
});
