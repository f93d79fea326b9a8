import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { call, type TestResponse } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import {
  addUser,
  joinTeam,
  newServiceAccount,
  newTeam,
  newUser,
  newWorkspace,
  signIn,
} from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

interface Entry {
  id: string;
  occurred_at: string;
  action: string;
  outcome: string;
  resource: string;
  actor: { kind: string; id: string | null; name: string | null };
}

describeDialects<unknown>('the audit log', migrations, (database) => {
  const config = testConfig({ audit_retention_days: 30 });
  const accounts = useAccounts(database, () => ({ config }));
  const read = (token: string, query = '') => call(accounts().app, 'GET', `/api/v1/audit${query}`, { token });
  const entriesOf = ({ body }: TestResponse) => body['entries'] as Entry[];

  it('records sign-ins and failed ones, but not the input of unknown users', async () => {
    const user = await addUser(accounts(), 'ann@example.com');
    for (const email of ['ann@example.com', 'secret-typed-here@example.com']) {
      const body = { email, password: 'wrong password' };
      await call(accounts().app, 'POST', '/api/auth/login', { body, remoteAddress: '198.51.100.9' });
    }
    const { token } = await signIn(accounts(), 'ann@example.com');
    const own = entriesOf(await read(token));
    expect(own).toMatchObject([
      { action: 'session:create', outcome: 'success', actor: { kind: 'user', id: user.id, name: 'ann@example.com' } },
      {
        action: 'session:create',
        outcome: 'refused',
        status: 401,
        actor: { kind: 'anonymous', id: null },
        resource: `user/${user.id}`,
        remote_address: '198.51.100.9',
      },
    ]);
    await accounts().module.ensureOwner({ password: 'the owner password' });
    const owner = await signIn(accounts(), 'owner@localhost', 'the owner password');
    const all = await read(owner.token);
    expect(entriesOf(all).length).toBe(4);
    expect(JSON.stringify(all.body)).not.toMatch(/secret-typed-here|wrong password/);
  });

  it('records what was created or refused, by whom, and with which credential', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const machine = await newServiceAccount(accounts(), ann, ann.workspaceUuid, ['read']);
    await call(accounts().app, 'PATCH', `/api/v1/workspaces/${ann.workspaceUuid}`, {
      token: machine.token,
      body: { name: 'mine' },
    });
    const entries = entriesOf(await read(ann.token, `?workspace_uuid=${ann.workspaceUuid}`));
    expect(entries[0]).toMatchObject({
      action: 'service-account:create',
      resource: `service-account/${machine.id}`,
      outcome: 'success',
      credential: { kind: 'jwt' },
      workspace_uuid: ann.workspaceUuid,
      request_id: expect.stringMatching(/^req_/) as string,
    });
    const own = entriesOf(await read(ann.token));
    expect(own.some(({ action }) => action === 'workspace:update')).toBe(false);
    const all = await accounts().database.audit.list({ actor: machine.id }, 10, null);
    expect(all).toMatchObject([{ action: 'workspace:update', outcome: 'refused', status: 403 }]);
  });

  it('shows a workspace only to its admins, and a user only their own entries', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const [bob, cat] = [await newUser(accounts(), 'bob@example.com'), await newUser(accounts(), 'cat@example.com')];
    const team = await newTeam(accounts(), ann);
    await joinTeam(accounts(), team, bob, 'admin');
    await joinTeam(accounts(), team, cat, 'member');
    const workspace = await newWorkspace(accounts(), ann, team);
    const reader = await newServiceAccount(accounts(), ann, workspace, ['read']);
    const admin = await newServiceAccount(accounts(), ann, workspace, ['admin']);
    const query = `?workspace_uuid=${workspace}`;
    const statuses = [
      await read(ann.token, query),
      await read(bob.token, `${query}&team_uuid=${team}`),
      await read(admin.token),
      await read(cat.token, `${query}&team_uuid=${team}`),
      await read(reader.token),
      await read(bob.token, query),
      await read(admin.token, `?workspace_uuid=${ann.workspaceUuid}`),
      await call(accounts().app, 'GET', '/api/v1/audit'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 403, 403, 404, 404, 401]);
    const seen = entriesOf(await read(bob.token));
    expect(seen.every(({ actor, resource }) => actor.id === bob.id || resource === `user/${bob.id}`)).toBe(true);
  });

  it('filters by actor, action and time, and pages without gaps while it grows', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const make = () => call(accounts().app, 'POST', '/api/tokens', { token: ann.token, body: { name: 'x' } });
    for (let count = 0; count < 5; count++) {
      await accounts().clock.advance(1000);
      await make();
    }
    expect(entriesOf(await read(ann.token, '?action=token:create')).length).toBe(5);
    expect(entriesOf(await read(ann.token, '?action=token:delete')).length).toBe(0);
    expect(entriesOf(await read(ann.token, '?actor=ann@example.com')).length).toBe(6);
    expect(entriesOf(await read(ann.token, `?actor=${ann.id}&since=2026-01-01T01:00:04%2B01:00`)).length).toBe(2);
    expect(entriesOf(await read(ann.token, '?actor=bob@example.com')).length).toBe(0);
    expect((await read(ann.token, '?since=yesterday')).status).toBe(400);

    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: TestResponse = await read(
        ann.token,
        `?action=token:create&page_size=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      ids.push(...entriesOf(page).map(({ id }) => id));
      cursor = page.body['next_cursor'] as string | null; // the schema of every list
      await make();
    }
    expect(new Set(ids).size).toBe(5);
    expect(ids.map(Number)).toEqual(ids.map(Number).sort((left, right) => right - left));
  });

  it('does not grow when strangers flood the platform', async () => {
    const attempted = (remoteAddress: string, outcome: 'refused' | 'success' = 'refused') =>
      accounts().module.audit.record({
        principal: null,
        action: 'session:create',
        resource: 'user',
        workspaceUuid: null,
        outcome,
        status: outcome === 'refused' ? 401 : 200,
        remoteAddress,
        requestId: 'req_test',
      });
    const count = async () => (await accounts().database.audit.list({}, 200, null)).length;
    for (let attempt = 0; attempt < 50; attempt++) await attempted('198.51.100.1');
    expect(await count()).toBe(30);
    expect(await accounts().metrics.render()).toContain('svc_audit_suppressed_total 20');
    await attempted('198.51.100.2');
    expect(await count()).toBe(31);
    await attempted('198.51.100.1', 'success');
    expect(await count()).toBe(32); // successful actions are always recorded
  });

  it('normalizes text to what the databases return, so that no caller can make the chain look broken', async () => {
    const { audit, verifyAudit } = accounts().module;
    const record = (text: string) =>
      audit.record({
        principal: null,
        action: 'bucket:create',
        resource: text,
        workspaceUuid: null,
        outcome: 'success',
        status: 200,
        remoteAddress: text,
        requestId: text,
        details: { name: text },
      });
    await record('half a \ud83d pair, and the \ude00 other');
    await record(`before\0after`);
    await record(`${'a'.repeat(499)}\u{1f600}`); // the cut falls inside the surrogate pair
    expect(await verifyAudit()).toMatchObject({ holds: true, rows: 3, breaks: [] });
    const stored = (await accounts().database.audit.list({}, 10, null)).toReversed();
    expect(stored.map(({ resource }) => resource)).toEqual([
      'half a \ufffd pair, and the \ufffd other',
      'beforeafter',
      'a'.repeat(499),
    ]);
    expect(stored[0]).toMatchObject({ remoteAddress: stored[0]?.resource, requestId: stored[0]?.resource });
  });

  it('removes entries older than the retention', async () => {
    await newUser(accounts(), 'ann@example.com');
    await accounts().clock.advance(30 * 86_400_000 + 1000);
    await signIn(accounts(), 'ann@example.com');
    const stop = new AbortController();
    await accounts().module.start(stop.signal);
    stop.abort();
    await accounts().module.close();
    expect((await accounts().database.audit.list({}, 10, null)).length).toBe(1);
  });
});
