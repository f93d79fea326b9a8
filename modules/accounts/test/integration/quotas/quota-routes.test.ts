import { migrations } from '@svc/migrations';
import { createQuotaCatalogue, defineQuotas } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { call } from '../../support/test-client.ts';
import { joinTeam, newTeam, newUser, newWorkspace } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const quotas = defineQuotas({
  boxes: { title: 'Boxes', unit: 'count', description: 'Boxes of all sizes', workspace: 3, owner: 5 },
  moves: { title: 'Moves per second', unit: 'per_second', description: 'Moves', workspace: 'unlimited', owner: 10 },
});

describeDialects<unknown>('quotas over HTTP', migrations, (database) => {
  const source = {
    catalogue: createQuotaCatalogue([quotas]),
    defaults: { workspace: { boxes: 3, moves: null }, owner: { boxes: 5, moves: 10 } },
    usage: async (uuids: readonly string[]) => ({ boxes: 2 * uuids.length }),
  };
  const accounts = useAccounts(database, () => ({ quotas: source }));
  const read = (token: string, workspace: string, query = '') =>
    call(accounts().app, 'GET', `/api/v1/workspaces/${workspace}/quotas${query}`, { token });
  const override = (method: 'PUT' | 'DELETE', token: string, path: string, body?: unknown) =>
    call(accounts().app, method, `/api/v1/admin/quotas/${path}`, { token, ...(body === undefined ? {} : { body }) });

  it('returns a workspace and the sums over all workspaces to the owner', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    await newWorkspace(accounts(), ann, null);
    const { status, body } = await read(ann.token, ann.workspaceUuid);
    expect(status).toBe(200);
    expect(body).toEqual({
      workspace_uuid: ann.workspaceUuid,
      quotas: [
        { name: 'boxes', title: 'Boxes', description: 'Boxes of all sizes', unit: 'count', limit: 3, used: 2 },
        { name: 'moves', title: 'Moves per second', description: 'Moves', unit: 'per_second', limit: null, used: null },
      ],
      owner: {
        id: ann.id,
        quotas: [
          expect.objectContaining({ name: 'boxes', limit: 5, used: 4 }),
          expect.objectContaining({ name: 'moves', limit: 10, used: null }),
        ],
      },
    });
  });

  it("returns the workspace to team members, without its owner's sums", async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'guest');
    const workspace = await newWorkspace(accounts(), ann, team);
    const { body } = await read(bob.token, workspace, `?team_uuid=${team}`);
    expect(body).toMatchObject({ quotas: [{ name: 'boxes' }, { name: 'moves' }], owner: null });
  });

  it('lets the operator set, read and unset limits of a workspace and an owner, and audits it', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const operator = await newUser(accounts(), 'root@example.com', true);
    const raised = await override('PUT', operator.token, `workspace/${ann.workspaceUuid}/boxes`, { limit: 50 });
    expect(raised).toMatchObject({
      status: 200,
      body: { scope: 'workspace', subject: ann.workspaceUuid, quota: 'boxes', limit: 50 },
    });
    await override('PUT', operator.token, 'owner/ANN@example.com/boxes', { limit: null });
    expect((await read(ann.token, ann.workspaceUuid)).body).toMatchObject({
      quotas: [{ limit: 50 }, {}],
      owner: { quotas: [{ name: 'boxes', limit: null }, {}] },
    });
    const listed = await call(accounts().app, 'GET', '/api/v1/admin/quotas', { token: operator.token });
    expect(listed.body).toMatchObject({
      overrides: [
        { scope: 'owner', subject: ann.id, quota: 'boxes', limit: null },
        { scope: 'workspace', subject: ann.workspaceUuid, quota: 'boxes', limit: 50 },
      ],
    });
    const seen = await call(accounts().app, 'GET', '/api/v1/admin/quotas/owner/ann@example.com', {
      token: operator.token,
    });
    expect(seen.body).toMatchObject({ quotas: [{ name: 'boxes', limit: null, used: 2 }, {}] });
    expect((await override('DELETE', operator.token, `workspace/${ann.workspaceUuid}/boxes`)).status).toBe(200);
    expect(await override('DELETE', operator.token, `workspace/${ann.workspaceUuid}/boxes`)).toMatchObject({
      status: 404,
      body: { code: 'QUOTA_NOT_SET' },
    });
    expect((await read(ann.token, ann.workspaceUuid)).body).toMatchObject({ quotas: [{ limit: 3 }, {}] });
    const audit = await call(accounts().app, 'GET', '/api/v1/audit?action=quota:update', { token: operator.token });
    expect(audit.body['entries']).toContainEqual(
      expect.objectContaining({
        resource: `quota/workspace/${ann.workspaceUuid}/boxes`,
        outcome: 'success',
        actor: expect.objectContaining({ name: 'root@example.com' }),
      }),
    );
  });

  it('refuses an owner, team admin or admin service account that tries to raise their own limit', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const made = await call(accounts().app, 'POST', `/api/v1/workspaces/${ann.workspaceUuid}/service-accounts`, {
      token: ann.token,
      body: { name: 'robot', scopes: ['admin'] },
    });
    for (const token of [ann.token, String(made.body['token'])]) {
      const path = `workspace/${ann.workspaceUuid}/boxes`;
      expect(await override('PUT', token, path, { limit: 50 })).toMatchObject({ status: 403 });
      expect(await override('DELETE', token, path)).toMatchObject({ status: 403 });
      expect((await call(accounts().app, 'GET', '/api/v1/admin/quotas', { token })).status).toBe(403);
    }
    expect((await read(ann.token, ann.workspaceUuid)).body).toMatchObject({ quotas: [{ limit: 3 }, {}] });
  });

  it('refuses an invalid quota, limit, workspace or owner', async () => {
    const { token, workspaceUuid } = await newUser(accounts(), 'root@example.com', true);
    const put = (path: string, body: unknown) => override('PUT', token, path, body);
    expect(await put(`workspace/${workspaceUuid}/bowls`, { limit: 1 })).toMatchObject({
      status: 400,
      body: { code: 'UNKNOWN_QUOTA', details: { known: ['boxes', 'moves'] } },
    });
    for (const limit of [-1, 'many', 2 ** 60, undefined]) {
      expect((await put(`workspace/${workspaceUuid}/boxes`, { limit })).status).toBe(400);
    }
    expect((await put('workspace/nowhere/boxes', { limit: 1 })).body).toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
    expect((await put('owner/nobody@example.com/boxes', { limit: 1 })).body).toMatchObject({ code: 'USER_NOT_FOUND' });
  });

  it('removes the limits of a deleted workspace', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const operator = await newUser(accounts(), 'root@example.com', true);
    const workspace = await newWorkspace(accounts(), ann, null);
    await override('PUT', operator.token, `workspace/${workspace}/boxes`, { limit: 50 });
    await call(accounts().app, 'DELETE', `/api/v1/workspaces/${workspace}`, { token: ann.token });
    expect(await accounts().database.quotaOverrides.list(10)).toEqual([]);
  });
});
