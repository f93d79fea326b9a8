import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { joinTeam, newTeam, newUser, newWorkspace, type TestUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('workspaces', migrations, (database) => {
  const config = testConfig({ limits: { workspaces_per_owner: 4 } });
  const accounts = useAccounts(database, () => ({ config }));
  const urlOf = (uuid: string, query = '') => `/api/v1/workspaces/${uuid}${query}`;
  const remove = (uuid: string, by: TestUser) => call(accounts().app, 'DELETE', urlOf(uuid), { token: by.token });
  const list = async (user: TestUser, query = '') => {
    const { body } = await call(accounts().app, 'GET', `/api/v1/workspaces${query}`, { token: user.token });
    return body['workspaces'] as { uuid: string; role: string }[];
  };

  it('every user has one, the default if none is named', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    expect(await list(ann)).toMatchObject([{ uuid: ann.workspaceUuid, role: 'owner', name: 'Default' }]);
    const principal = await accounts().module.access.authenticate({
      headers: { authorization: `Bearer ${ann.token}` },
      method: 'GET',
      remoteAddress: '127.0.0.1',
      isSecure: false,
    });
    const grant = await accounts().module.access.authorize({ principal, action: 'bucket:create' });
    expect(grant).toEqual({ workspaceUuid: ann.workspaceUuid, role: 'owner', teamUuid: null });
  });

  it("the directory finds them by their owner's e-mail, and reports which exist", async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const { directory } = accounts().module;
    expect(await directory.byEmail(' Ann@Example.com ')).toBe(ann.workspaceUuid);
    expect(await directory.byEmail('bob@example.com')).toBeNull();
    expect(await directory.byEmail('no address')).toBeNull();
    expect(await directory.exists(ann.workspaceUuid)).toBe(true);
    expect(await directory.exists('00000000-0000-4000-8000-000000000000')).toBe(false);
  });

  it("a team without a named workspace means the team's first, never the caller's own", async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'member');
    const ask = async (user: TestUser) => {
      const headers = { authorization: `Bearer ${user.token}` };
      const source = { headers, method: 'GET', remoteAddress: '::1', isSecure: false };
      const principal = await accounts().module.access.authenticate(source);
      return accounts().module.access.authorize({ principal, action: 'bucket:list', teamUuid: team });
    };
    await expect(ask(bob)).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
    const workspace = await newWorkspace(accounts(), ann, team);
    expect(await ask(bob)).toEqual({ workspaceUuid: workspace, role: 'member', teamUuid: team });
    expect(await ask(ann)).toEqual({ workspaceUuid: workspace, role: 'owner', teamUuid: team });
  });

  it("are listed with the caller's role, and by team only for its members", async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'guest');
    await accounts().clock.advance(1000);
    const shared = await newWorkspace(accounts(), ann, team);
    expect(await list(bob)).toMatchObject([{ role: 'owner' }, { uuid: shared, role: 'guest' }]);
    expect(await list(bob, `?team_uuid=${team}`)).toMatchObject([{ uuid: shared }]);
    const other = await newTeam(accounts(), ann);
    const refused = await call(accounts().app, 'GET', `/api/v1/workspaces?team_uuid=${other}`, { token: bob.token });
    expect(refused).toMatchObject({ status: 403, body: { code: 'NOT_TEAM_MEMBER' } });
    const first = await call(accounts().app, 'GET', '/api/v1/workspaces?page_size=1', { token: bob.token });
    const rest = await list(bob, `?page_size=1&cursor=${String(first.body['next_cursor'])}`);
    expect(rest).toMatchObject([{ uuid: shared }]);
  });

  it('are created in a team only by its admins', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    const make = () =>
      call(accounts().app, 'POST', '/api/v1/workspaces', { token: bob.token, body: { name: 'x', team_uuid: team } });
    expect((await make()).status).toBe(404);
    await joinTeam(accounts(), team, bob, 'member');
    expect((await make()).status).toBe(403);
    await accounts().database.members.setRole(team, bob.id, 'admin');
    expect(await make()).toMatchObject({ status: 201, body: { team_uuid: team, owner_id: bob.id, role: 'owner' } });
  });

  it('are limited per owner, even for concurrent requests', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const make = () => call(accounts().app, 'POST', '/api/v1/workspaces', { token: ann.token, body: { name: 'x' } });
    const made = await Promise.all(Array.from({ length: 6 }, make));
    expect(sortedStatuses(made)).toEqual([201, 201, 201, 403, 403, 403]);
  });

  it('are renamed by admins, and moved only by their owner, into a team they administer', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'admin');
    const shared = await newWorkspace(accounts(), ann, team);
    const change = (by: TestUser, body: Record<string, unknown>, query = '') =>
      call(accounts().app, 'PATCH', urlOf(shared, query), { token: by.token, body });
    expect((await change(bob, { name: 'Renamed' }, `?team_uuid=${team}`)).body).toMatchObject({ name: 'Renamed' });
    expect((await change(bob, { team_uuid: null }, `?team_uuid=${team}`)).status).toBe(403);
    const foreign = await newTeam(accounts(), bob);
    expect((await change(ann, { team_uuid: foreign })).status).toBe(404);
    expect((await change(ann, {})).status).toBe(400);
    expect((await change(ann, { team_uuid: null })).body).toMatchObject({ name: 'Renamed', team_uuid: null });
    expect((await change(bob, { name: 'x' }, `?team_uuid=${team}`)).status).toBe(404);
  });

  it('transfer to another member of the team, once', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const cat = await newUser(accounts(), 'cat@example.com');
    const team = await newTeam(accounts(), ann);
    for (const user of [bob, cat]) await joinTeam(accounts(), team, user, 'member');
    const shared = await newWorkspace(accounts(), ann, team);
    const transfer = (uuid: string, to: string) =>
      call(accounts().app, 'POST', `${urlOf(uuid)}/transfer`, { token: ann.token, body: { user_id: to } });
    const outsider = await newUser(accounts(), 'dan@example.com');
    expect((await transfer(shared, outsider.id)).body).toMatchObject({ code: 'MEMBER_NOT_FOUND' });
    expect((await transfer(ann.workspaceUuid, bob.id)).body).toMatchObject({ code: 'WORKSPACE_WITHOUT_TEAM' });
    const answers = await Promise.all([transfer(shared, bob.id), transfer(shared, cat.id)]);
    expect(sortedStatuses(answers)).toEqual([200, 404]);
    expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ role: 'admin' });
    await call(accounts().app, 'PATCH', urlOf(ann.workspaceUuid), { token: ann.token, body: { team_uuid: team } });
    expect((await transfer(ann.workspaceUuid, bob.id)).body).toMatchObject({ code: 'LAST_WORKSPACE' });
  });

  it('are deleted when empty, only by their owner, and never the last one', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    expect(await remove(ann.workspaceUuid, ann)).toMatchObject({ status: 409, body: { code: 'LAST_WORKSPACE' } });
    const second = await newWorkspace(accounts(), ann, null);
    accounts().holdings.set(second, ['2 buckets', '1 sandbox']);
    expect(await remove(second, ann)).toMatchObject({
      status: 409,
      body: {
        code: 'WORKSPACE_NOT_EMPTY',
        message: 'The workspace still holds 2 buckets, 1 sandbox; delete them first',
      },
    });
    expect((await call(accounts().app, 'GET', urlOf(second), { token: ann.token })).status).toBe(200);
    accounts().holdings.delete(second);
    expect((await remove(second, ann)).body).toEqual({ id: second, deleted: true });
    expect((await call(accounts().app, 'GET', urlOf(second), { token: ann.token })).status).toBe(404);
    expect((await remove(second, ann)).status).toBe(404);
  });

  it('concurrent deletions never delete the last one', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const second = await newWorkspace(accounts(), ann, null);
    const both = await Promise.all([remove(ann.workspaceUuid, ann), remove(second, ann)]);
    expect(sortedStatuses(both)).toEqual([200, 409]);
    expect((await list(ann)).length).toBe(1);
  });

  it('refuse access while a deletion checks the contents, and reopen if the check fails', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const second = await newWorkspace(accounts(), ann, null);
    const read = async () => (await call(accounts().app, 'GET', urlOf(second), { token: ann.token })).status;
    const during: number[] = [];
    accounts().inside.whileLooking = async () => {
      during.push(await read(), (await remove(second, ann)).status);
      throw new Error('the look inside failed');
    };
    expect((await remove(second, ann)).status).toBe(500);
    expect(during).toEqual([404, 404]);
    expect(await read()).toBe(200);
  });
});
