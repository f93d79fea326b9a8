import type { Action } from '@svc/access';
import type { HttpApp } from '@svc/http';
import { migrations } from '@svc/migrations';
import { type DatabaseSource, sqliteSource } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decorateTeamGrants, guardTeam } from '../../../src/routes/team-guard.ts';
import { createAccountDatabase } from '../../../src/store/account-database.ts';
import { startTestAccounts, type TestAccounts } from '../../support/test-accounts.ts';
import { call, type TestRequest } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newUser } from '../../support/test-people.ts';
import { buildWorld, type TestWorld } from '../../support/test-world.ts';
import { authorizeTable, type KnownAction } from '../../../src/domain/authorize/table.ts';

/** Written by hand, so that a mistake in the table does not carry over to the expectations. */
const words = (text: string): string[] => text.trim().split(/\s+/);
const SANDBOX_READS = words('sandbox:list sandbox:read sandbox:files-read image:list');
const SANDBOX_WRITES = words('sandbox:create sandbox:update sandbox:delete sandbox:exec sandbox:files-write');
const READS = [
  ...words('workspace:read quota:read store:read bucket:list bucket:read domain:list object:list object:read'),
  ...words(
    'cluster:list cluster:read deployment:read command:read log:read event:read secret:list volume:list volume:files-read',
  ),
  ...words('template:list template:read'),
  ...SANDBOX_READS,
];
const WRITES = [
  ...words('bucket:create key:list key:create key:delete object:write object:delete'),
  ...words('deployment:create command:exec command:cancel tunnel:use cluster:run-sandboxes'),
  ...words('secret:create secret:update secret:delete volume:create volume:update volume:delete volume:files-write'),
  ...words('template:create template:update template:delete'),
  ...SANDBOX_WRITES,
];
const ADMINS = [
  ...words('workspace:update service-account:list service-account:create service-account:update'),
  ...words('service-account:delete audit:list'),
  ...words('bucket:update bucket:delete bucket:restore domain:create domain:delete'),
  ...words('cluster:create cluster:delete cluster:rotate-token'),
  ...words('webhook:list webhook:create webhook:update webhook:delete'),
];
const OWNERS = ['workspace:move', 'workspace:transfer', 'workspace:delete'];

const actionsOf = (scope: string): KnownAction[] =>
  Object.entries(authorizeTable)
    .filter(([, rule]) => rule.scope === scope)
    .map(([action]) => action as KnownAction); // keys of the table itself

/** A colon in a path would start a parameter. */
const slug = (action: string): string => action.replace(':', '-');

const WORKSPACE_ACTIONS = actionsOf('workspace');
const TEAM_ACTIONS = actionsOf('team');
const SELF_ACTIONS = actionsOf('self');
const INSTALLATION_ACTIONS = actionsOf('installation');

const TEAM_EVERYBODY = ['team:read', 'team:leave', 'member:list'];
const TEAM_OWNERS = ['team:delete', 'team:transfer'];

let source: DatabaseSource;
let accounts: TestAccounts;
let world: TestWorld;
let closeDatabase: () => Promise<void>;

/** One route per action behind the real guard: a refusal here applies to every route of that action. */
function probeRoutes(app: HttpApp, database: ReturnType<typeof createAccountDatabase>): void {
  decorateTeamGrants(app);
  const answer = async (): Promise<{ ok: true }> => ({ ok: true });
  for (const action of WORKSPACE_ACTIONS)
    app.post(`/probe/:workspace_uuid/${slug(action)}`, { config: { action } }, answer);
  for (const action of [...SELF_ACTIONS, ...INSTALLATION_ACTIONS])
    app.post(`/own/${slug(action)}`, { config: { action, scope: 'self' } }, answer);
  for (const action of TEAM_ACTIONS) {
    const guard = guardTeam({ database }, action);
    app.post(`/team/:uuid/${slug(action)}`, { config: { action, scope: 'self' }, ...guard }, answer);
  }
}

beforeAll(async () => {
  source = await sqliteSource(migrations);
  const database = await source.open<unknown>();
  closeDatabase = () => database.close();
  const extraRoutes = (app: HttpApp) => probeRoutes(app, createAccountDatabase(database));
  accounts = await startTestAccounts(database, { config: testConfig({ guest: { enabled: true } }), extraRoutes });
  world = await buildWorld(accounts);
});
afterAll(async () => {
  await accounts.close();
  await closeDatabase();
  await source.close();
});

async function walk(
  actions: readonly Action[],
  urlOf: (action: Action) => string,
  request: TestRequest,
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const action of actions) statuses[action] = (await call(accounts.app, 'POST', urlOf(action), request)).status;
  return statuses;
}

const expectAll = (actions: readonly string[], status: number) =>
  Object.fromEntries(actions.map((action) => [action, status]));

/** 200 for the listed actions, the other status for the rest. */
const expectOnly = (actions: readonly string[], allowed: readonly string[], otherwise = 403) =>
  Object.fromEntries(actions.map((action) => [action, allowed.includes(action) ? 200 : otherwise]));

describe('the authorize table', () => {
  it('lists every action with its expected level', () => {
    expect([...READS, ...WRITES, ...ADMINS, ...OWNERS].sort()).toEqual([...WORKSPACE_ACTIONS].sort());
  });

  it('refuses unknown actions', async () => {
    const principal = await accounts.module.access.authenticate({
      headers: { authorization: `Bearer ${world.owner.token}` },
      method: 'GET',
      remoteAddress: '127.0.0.1',
      isSecure: false,
    });
    await expect(accounts.module.access.authorize({ principal, action: 'bucket:explode' })).rejects.toThrow(/table/);
    await expect(accounts.module.access.permit(principal, 'toString:x')).rejects.toThrow(/table/);
  });
});

type Caller = [
  who: string,
  call: (world: TestWorld) => { request: TestRequest; team?: string },
  allowed: string[] | 403 | 404,
];

const everything = [...READS, ...WRITES, ...ADMINS, ...OWNERS];
const callers: Caller[] = [
  ['its owner', (w) => ({ request: { token: w.owner.token } }), everything],
  ['its owner who names the team', (w) => ({ request: { token: w.owner.token }, team: w.team }), everything],
  ['its owner who names any team', (w) => ({ request: { token: w.owner.token }, team: w.otherTeam }), everything],
  [
    'the owner of its team',
    (w) => ({ request: { token: w.captain.token }, team: w.team }),
    [...READS, ...WRITES, ...ADMINS],
  ],
  [
    'an admin of its team',
    (w) => ({ request: { token: w.admin.token }, team: w.team }),
    [...READS, ...WRITES, ...ADMINS],
  ],
  ['a member of its team', (w) => ({ request: { token: w.member.token }, team: w.team }), [...READS, ...WRITES]],
  ['a guest of its team', (w) => ({ request: { token: w.guest.token }, team: w.team }), READS],
  ['an admin of its team who names no team', (w) => ({ request: { token: w.admin.token } }), 404],
  ['a member of its team who names no team', (w) => ({ request: { token: w.member.token } }), 404],
  ['a guest of its team who names no team', (w) => ({ request: { token: w.guest.token } }), 404],
  ['a member who names a team he is not in', (w) => ({ request: { token: w.member.token }, team: w.otherTeam }), 403],
  ['a member who names a team that is not', (w) => ({ request: { token: w.member.token }, team: 'no-such-team' }), 403],
  ['a member who names another team of his', (w) => ({ request: { token: w.member.token }, team: w.memberTeam }), 404],
  ['an outsider', (w) => ({ request: { token: w.outsider.token } }), 404],
  ['an outsider who names its team', (w) => ({ request: { token: w.outsider.token }, team: w.team }), 403],
  ['an outsider who names his own team', (w) => ({ request: { token: w.outsider.token }, team: w.otherTeam }), 404],
  ['its service account with scope read', (w) => ({ request: { token: w.serviceAccounts.read } }), READS],
  [
    'its service account with scope write',
    (w) => ({ request: { token: w.serviceAccounts.write } }),
    [...READS, ...WRITES],
  ],
  [
    'its service account with scope admin',
    (w) => ({ request: { token: w.serviceAccounts.admin } }),
    [...READS, ...WRITES, ...ADMINS],
  ],
  [
    'its service account that names a foreign team',
    (w) => ({ request: { token: w.serviceAccounts.read }, team: w.otherTeam }),
    READS,
  ],
  ['a service account of another workspace', (w) => ({ request: { token: w.serviceAccounts.other } }), 404],
  [
    'a service account of another workspace that names the team',
    (w) => ({ request: { token: w.serviceAccounts.other }, team: w.team }),
    404,
  ],
  ['a guest sign-in', (w) => ({ request: { token: w.guestToken } }), 404],
  ['a guest sign-in that names the team', (w) => ({ request: { token: w.guestToken }, team: w.team }), 404],
];

describe('in a team workspace', () => {
  it.each(callers)('%s', async (_who, callOf, allowed) => {
    const { request, team } = callOf(world);
    const query = team === undefined ? '' : `?team_uuid=${team}`;
    const statuses = await walk(
      WORKSPACE_ACTIONS,
      (action) => `/probe/${world.workspace}/${slug(action)}${query}`,
      request,
    );
    const expected =
      typeof allowed === 'number' ? expectAll(WORKSPACE_ACTIONS, allowed) : expectOnly(WORKSPACE_ACTIONS, allowed);
    expect(statuses).toEqual(expected);
  });

  it('a guest in their own workspace may only use sandboxes', async () => {
    const url = (action: Action) => `/probe/${world.guestWorkspace}/${slug(action)}`;
    const statuses = await walk(WORKSPACE_ACTIONS, url, { token: world.guestToken });
    expect(statuses).toEqual(expectOnly(WORKSPACE_ACTIONS, [...SANDBOX_READS, ...SANDBOX_WRITES]));
  });

  it('an unknown workspace is refused like a foreign one', async () => {
    const url = (action: Action) => `/probe/00000000-0000-4000-8000-000000000000/${slug(action)}`;
    for (const token of [world.owner.token, world.outsider.token, world.serviceAccounts.admin, world.guestToken]) {
      expect(await walk(WORKSPACE_ACTIONS, url, { token })).toEqual(expectAll(WORKSPACE_ACTIONS, 404));
    }
    const named = (action: Action) => `${url(action)}?team_uuid=${world.team}`;
    expect(await walk(WORKSPACE_ACTIONS, named, { token: world.member.token })).toEqual(
      expectAll(WORKSPACE_ACTIONS, 404),
    );
  });
});

describe('on a team', () => {
  const url = (action: Action) => `/team/${world.team}/${slug(action)}`;

  it('its owner may perform every action', async () => {
    expect(await walk(TEAM_ACTIONS, url, { token: world.captain.token })).toEqual(expectAll(TEAM_ACTIONS, 200));
  });

  it('its admin may do everything except delete and transfer it', async () => {
    const allowed = TEAM_ACTIONS.filter((action) => !TEAM_OWNERS.includes(action));
    expect(await walk(TEAM_ACTIONS, url, { token: world.admin.token })).toEqual(expectOnly(TEAM_ACTIONS, allowed));
  });

  it('its members and guests may read and leave it', async () => {
    for (const user of [world.member, world.guest]) {
      expect(await walk(TEAM_ACTIONS, url, { token: user.token })).toEqual(expectOnly(TEAM_ACTIONS, TEAM_EVERYBODY));
    }
  });

  it('an outsider learns nothing about it', async () => {
    expect(await walk(TEAM_ACTIONS, url, { token: world.outsider.token })).toEqual(expectAll(TEAM_ACTIONS, 404));
    const missing = (action: Action) => `/team/no-such-team/${slug(action)}`;
    expect(await walk(TEAM_ACTIONS, missing, { token: world.captain.token })).toEqual(expectAll(TEAM_ACTIONS, 404));
  });

  it('service accounts and guests are always refused', async () => {
    for (const token of [...Object.values(world.serviceAccounts), world.guestToken]) {
      expect(await walk(TEAM_ACTIONS, url, { token })).toEqual(expectAll(TEAM_ACTIONS, 403));
    }
  });
});

describe("on the caller's own resources", () => {
  const url = (action: Action) => `/own/${slug(action)}`;

  it('users may do everything, regardless of their team roles', async () => {
    for (const user of [world.owner, world.admin, world.member, world.guest, world.outsider]) {
      expect(await walk(SELF_ACTIONS, url, { token: user.token })).toEqual(expectAll(SELF_ACTIONS, 200));
    }
  });

  it('service accounts may read their identity and workspaces, guests nothing', async () => {
    const allowed = ['account:read', 'workspace:list'];
    for (const token of Object.values(world.serviceAccounts)) {
      expect(await walk(SELF_ACTIONS, url, { token })).toEqual(expectOnly(SELF_ACTIONS, allowed));
    }
    expect(await walk(SELF_ACTIONS, url, { token: world.guestToken })).toEqual(expectAll(SELF_ACTIONS, 403));
  });
});

describe('without valid credentials', () => {
  const all = [...WORKSPACE_ACTIONS, ...TEAM_ACTIONS, ...SELF_ACTIONS];
  const url = (action: Action): string => {
    const { scope } = authorizeTable[action as KnownAction]; // `all` holds nothing else
    if (scope === 'workspace') return `/probe/${world.workspace}/${slug(action)}`;
    return scope === 'team' ? `/team/${world.team}/${slug(action)}` : `/own/${slug(action)}`;
  };

  it('no token: always 401', async () => {
    expect(await walk(all, url, {})).toEqual(expectAll(all, 401));
    const answer = await call(accounts.app, 'POST', url('bucket:list'));
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="svc"');
  });

  it('revoked and expired tokens: always 401', async () => {
    for (const [why, token] of Object.entries(world.dead)) {
      expect(await walk(all, url, { token }), why).toEqual(expectAll(all, 401));
    }
  });

  it('the cookie of an ended session: always 401', async () => {
    const cookies = { svc_session: world.deadCookie };
    expect(await walk(all, url, { cookies })).toEqual(expectAll(all, 401));
  });

  it('a valid cookie without the CSRF token: 403 for every change', async () => {
    const cookies = { svc_session: world.owner.sessionCookie };
    expect(await walk(all, url, { cookies })).toEqual(expectAll(all, 403));
  });
});

describe('on the installation', () => {
  const url = (action: Action) => `/own/${slug(action)}`;

  it('every caller except the operator is refused, including owners and admins', async () => {
    const people = [world.owner, world.captain, world.admin, world.member, world.guest, world.outsider];
    const tokens = [...people.map(({ token }) => token), ...Object.values(world.serviceAccounts), world.guestToken];
    for (const token of tokens) {
      expect(await walk(INSTALLATION_ACTIONS, url, { token })).toEqual(expectAll(INSTALLATION_ACTIONS, 403));
    }
  });

  it('the operator may do everything', async () => {
    const { token } = await newUser(accounts, 'operator@example.com', true);
    expect(await walk(INSTALLATION_ACTIONS, url, { token })).toEqual(expectAll(INSTALLATION_ACTIONS, 200));
  });
});

describe('after an hour', () => {
  it('access tokens and guests expire', async () => {
    await accounts.clock.advance(3600_000);
    const url = (action: Action) => `/probe/${world.guestWorkspace}/${slug(action)}`;
    expect(await walk(WORKSPACE_ACTIONS, url, { token: world.guestToken })).toEqual(expectAll(WORKSPACE_ACTIONS, 401));
    const owned = (action: Action) => `/probe/${world.workspace}/${slug(action)}`;
    expect(await walk(WORKSPACE_ACTIONS, owned, { token: world.owner.token })).toEqual(
      expectAll(WORKSPACE_ACTIONS, 401),
    );
  });
});
