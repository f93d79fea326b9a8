import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { joinTeam, newTeam, newUser, newWorkspace, type TestUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('teams and members', migrations, (database) => {
  const config = testConfig({ limits: { teams_per_owner: 3 } });
  const accounts = useAccounts(database, () => ({ config }));
  const patch = (team: string, by: TestUser, user: TestUser, role: string) =>
    call(accounts().app, 'PATCH', `/api/v1/teams/${team}/members/${user.id}`, { token: by.token, body: { role } });
  const remove = (team: string, by: TestUser, user: TestUser) =>
    call(accounts().app, 'DELETE', `/api/v1/teams/${team}/members/${user.id}`, { token: by.token });
  const transfer = (team: string, by: TestUser, to: TestUser) =>
    call(accounts().app, 'POST', `/api/v1/teams/${team}/transfer`, { token: by.token, body: { user_id: to.id } });

  it('support create, read, rename, list and delete', async () => {
    const { app } = accounts();
    const ann = await newUser(accounts(), 'ann@example.com');
    const made = await call(app, 'POST', '/api/v1/teams', { token: ann.token, body: { name: 'Crew' } });
    expect(made).toMatchObject({ status: 201, body: { name: 'Crew', owner_id: ann.id, role: 'admin' } });
    const url = `/api/v1/teams/${String(made.body['uuid'])}`;
    await accounts().clock.advance(1000);
    const renamed = await call(app, 'PATCH', url, { token: ann.token, body: { name: 'Crew of one' } });
    expect(renamed.body).toMatchObject({ name: 'Crew of one', updated_at: accounts().clock.now().toISOString() });
    const listed = await call(app, 'GET', '/api/v1/teams', { token: ann.token });
    expect(listed.body).toEqual({ teams: [renamed.body], next_cursor: null });
    const members = await call(app, 'GET', `${url}/members`, { token: ann.token });
    expect(members.body).toMatchObject({
      members: [{ user_id: ann.id, email: 'ann@example.com', role: 'admin', owner: true }],
    });
    expect((await call(app, 'DELETE', url, { token: ann.token })).status).toBe(200);
    expect((await call(app, 'GET', url, { token: ann.token })).status).toBe(404);
  });

  it("leave a deleted team's workspaces with their owners, closed to the others", async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'admin');
    const workspace = await newWorkspace(accounts(), bob, team);
    await call(accounts().app, 'DELETE', `/api/v1/teams/${team}`, { token: ann.token });
    const read = (token: string, query = '') =>
      call(accounts().app, 'GET', `/api/v1/workspaces/${workspace}${query}`, { token });
    expect((await read(bob.token)).body).toMatchObject({ role: 'owner', team_uuid: null });
    expect((await read(ann.token, `?team_uuid=${team}`)).status).toBe(403);
  });

  it('are limited per owner, even for concurrent requests', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const make = () => call(accounts().app, 'POST', '/api/v1/teams', { token: ann.token, body: { name: 'Crew' } });
    const made = await Promise.all(Array.from({ length: 6 }, make));
    expect(sortedStatuses(made)).toEqual([201, 201, 201, 403, 403, 403]);
  });

  it('keep the last admin and the owner', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'member');
    const lastAdmin = { status: 409, body: { code: 'LAST_ADMIN' } };
    expect(await remove(team, ann, ann)).toMatchObject(lastAdmin);
    expect(await patch(team, ann, ann, 'member')).toMatchObject(lastAdmin);
    expect((await patch(team, ann, bob, 'admin')).body).toMatchObject({ role: 'admin', email: 'bob@example.com' });
    const owner = { status: 409, body: { code: 'TEAM_OWNER' } };
    expect(await remove(team, bob, ann)).toMatchObject(owner);
    expect(await patch(team, bob, ann, 'guest')).toMatchObject(owner);
    expect((await transfer(team, ann, bob)).body).toMatchObject({ owner_id: bob.id });
    expect((await remove(team, bob, ann)).status).toBe(200);
    expect(await remove(team, bob, bob)).toMatchObject(lastAdmin);
  });

  it('keep one admin when admins remove each other concurrently', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const others = [await newUser(accounts(), 'bob@example.com'), await newUser(accounts(), 'cat@example.com')];
    const team = await newTeam(accounts(), ann);
    for (const user of others) await joinTeam(accounts(), team, user, 'admin');
    const all = [ann, ...others];
    await Promise.all(all.flatMap((by) => all.map((user) => remove(team, by, user))));
    expect(await accounts().database.members.count(team, 'admin')).toBe(1);
    expect((await accounts().database.teams.byUuid(team))?.ownerId).toBe(ann.id);
  });

  it('accept exactly one of several concurrent transfers', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const heirs = [await newUser(accounts(), 'bob@example.com'), await newUser(accounts(), 'cat@example.com')];
    const team = await newTeam(accounts(), ann);
    for (const user of heirs) await joinTeam(accounts(), team, user, 'guest');
    const answers = await Promise.all([...heirs, ...heirs].map((heir) => transfer(team, ann, heir)));
    expect(sortedStatuses(answers)).toEqual([200, 403, 403, 403]);
    const owner = (await accounts().database.teams.byUuid(team))?.ownerId ?? '';
    expect((await accounts().database.members.get(team, owner))?.role).toBe('admin');
  });

  it('transfer only to members', async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    expect(await transfer(team, ann, bob)).toMatchObject({ status: 404, body: { code: 'MEMBER_NOT_FOUND' } });
  });

  it('let everyone leave, and let only admins remove others', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const [bob, cat] = [await newUser(accounts(), 'bob@example.com'), await newUser(accounts(), 'cat@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'guest');
    await joinTeam(accounts(), team, cat, 'member');
    expect((await remove(team, cat, bob)).status).toBe(403);
    expect((await remove(team, bob, bob)).status).toBe(200);
    expect((await remove(team, ann, bob)).status).toBe(404);
    expect((await remove(team, bob, bob)).status).toBe(404);
  });

  it("move a leaving member's team workspaces to the owner, and leave them one", async () => {
    const [ann, bob] = [await newUser(accounts(), 'ann@example.com'), await newUser(accounts(), 'bob@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'admin');
    const move = { token: bob.token, body: { team_uuid: team } };
    expect((await call(accounts().app, 'PATCH', `/api/v1/workspaces/${bob.workspaceUuid}`, move)).status).toBe(200);
    expect((await remove(team, ann, bob)).status).toBe(200);
    const read = await call(accounts().app, 'GET', `/api/v1/workspaces/${bob.workspaceUuid}`, { token: ann.token });
    expect(read.body).toMatchObject({ role: 'owner', owner_id: ann.id });
    const left = await call(accounts().app, 'GET', '/api/v1/workspaces', { token: bob.token });
    expect(left.body).toMatchObject({ workspaces: [{ name: 'Default', owner_id: bob.id, team_uuid: null }] });
  });
});
