import { migrations } from '@svc/migrations';
import { type DatabaseSource, sqliteSource } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestAccounts, type TestAccounts } from '../support/test-accounts.ts';
import { call } from '../support/test-client.ts';
import { testConfig } from '../support/test-config.ts';
import { buildWorld, type TestWorld } from '../support/test-world.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Callers, in the order of the expected statuses below. `+team` names the team in the query. */
const CALLERS = ['outsider', 'member', 'member+team', 'guest+team', 'sat_read', 'sat_other', 'guest sign-in'] as const;

interface RouteCase {
  route: `${Method} ${string}`;
  body?: Record<string, unknown>;
  /** One status per caller. Refused callers change nothing, so the order of the cases does not matter. */
  statuses: readonly number[];
}

// Deliberately invalid bodies for allowed callers: a 400 shows that only the body was refused.
const BAD = { no_such_field: true };
const CASES: readonly RouteCase[] = [
  { route: 'GET /api/auth/me', statuses: [200, 200, 200, 200, 200, 200, 403] },
  { route: 'POST /api/auth/password', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'POST /api/auth/confirm', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'GET /api/tokens', statuses: [200, 200, 200, 200, 403, 403, 403] },
  { route: 'POST /api/tokens', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'DELETE /api/tokens/{id}', statuses: [404, 404, 404, 404, 403, 403, 403] },
  { route: 'GET /api/ssh-keys', statuses: [200, 200, 200, 200, 403, 403, 403] },
  { route: 'POST /api/ssh-keys', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'DELETE /api/ssh-keys/{id}', statuses: [404, 404, 404, 404, 403, 403, 403] },
  { route: 'GET /api/v1/teams', statuses: [200, 200, 200, 200, 403, 403, 403] },
  { route: 'POST /api/v1/teams', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'GET /api/v1/teams/{uuid}', statuses: [404, 200, 200, 200, 403, 403, 403] },
  { route: 'PATCH /api/v1/teams/{uuid}', body: BAD, statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'DELETE /api/v1/teams/{uuid}', statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'POST /api/v1/teams/{uuid}/transfer', body: BAD, statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'GET /api/v1/teams/{uuid}/members', statuses: [404, 200, 200, 200, 403, 403, 403] },
  { route: 'PATCH /api/v1/teams/{uuid}/members/{user_id}', body: BAD, statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'DELETE /api/v1/teams/{uuid}/members/{user_id}', statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'GET /api/v1/teams/{uuid}/invitations', statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'POST /api/v1/teams/{uuid}/invitations', body: BAD, statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'DELETE /api/v1/teams/{uuid}/invitations/{id}', statuses: [404, 403, 403, 403, 403, 403, 403] },
  { route: 'GET /api/v1/workspaces', statuses: [200, 200, 200, 200, 200, 200, 403] },
  { route: 'POST /api/v1/workspaces', body: BAD, statuses: [400, 400, 400, 400, 403, 403, 403] },
  { route: 'GET /api/v1/workspaces/{workspace_uuid}', statuses: [404, 404, 200, 200, 200, 404, 404] },
  { route: 'PATCH /api/v1/workspaces/{workspace_uuid}', body: BAD, statuses: [404, 404, 403, 403, 403, 404, 404] },
  { route: 'DELETE /api/v1/workspaces/{workspace_uuid}', statuses: [404, 404, 403, 403, 403, 404, 404] },
  {
    route: 'POST /api/v1/workspaces/{workspace_uuid}/transfer',
    body: BAD,
    statuses: [404, 404, 403, 403, 403, 404, 404],
  },
  { route: 'GET /api/v1/workspaces/{workspace_uuid}/service-accounts', statuses: [404, 404, 403, 403, 403, 404, 404] },
  {
    route: 'POST /api/v1/workspaces/{workspace_uuid}/service-accounts',
    body: BAD,
    statuses: [404, 404, 403, 403, 403, 404, 404],
  },
  {
    route: 'PATCH /api/v1/workspaces/{workspace_uuid}/service-accounts/{id}',
    body: BAD,
    statuses: [404, 404, 403, 403, 403, 404, 404],
  },
  {
    route: 'DELETE /api/v1/workspaces/{workspace_uuid}/service-accounts/{id}',
    statuses: [404, 404, 403, 403, 403, 404, 404],
  },
  { route: 'GET /api/v1/workspaces/{workspace_uuid}/quotas', statuses: [404, 404, 200, 200, 200, 404, 404] },
  { route: 'GET /api/v1/admin/quotas', statuses: [403, 403, 403, 403, 403, 403, 403] },
  { route: 'GET /api/v1/admin/quotas/{scope}/{subject}', statuses: [403, 403, 403, 403, 403, 403, 403] },
  {
    route: 'PUT /api/v1/admin/quotas/{scope}/{subject}/{quota}',
    body: BAD,
    statuses: [403, 403, 403, 403, 403, 403, 403],
  },
  { route: 'DELETE /api/v1/admin/quotas/{scope}/{subject}/{quota}', statuses: [403, 403, 403, 403, 403, 403, 403] },
  { route: 'GET /api/v1/audit', statuses: [404, 404, 403, 403, 403, 404, 403] },
];

/** Routes that require no sign-in; their own tests cover their refusals. */
const PUBLIC = [
  'POST /api/auth/login',
  'POST /api/auth/password/link',
  'POST /api/auth/guest',
  'GET /.well-known/jwks.json',
  'POST /api/v1/invitations/{token}/accept',
];
/** Would sign the callers out; covered by sign-in.test.ts. */
const ELSEWHERE = ['POST /api/auth/logout'];

let source: DatabaseSource;
let closeDatabase: () => Promise<void>;
let accounts: TestAccounts;
let world: TestWorld;

beforeAll(async () => {
  source = await sqliteSource(migrations);
  const database = await source.open<unknown>();
  closeDatabase = () => database.close();
  accounts = await startTestAccounts(database, { config: testConfig({ guest: { enabled: true } }) });
  world = await buildWorld(accounts);
});
afterAll(async () => {
  await accounts.close();
  await closeDatabase();
  await source.close();
});

function request(route: RouteCase['route'], withTeam: boolean): { method: Method; url: string } {
  const [method, template] = route.split(' ') as [Method, string]; // given by the type of `route`
  const path = template
    .replace('{workspace_uuid}', world.workspace)
    .replace('{uuid}', world.team)
    .replace('{user_id}', world.captain.id)
    .replace('{id}', 'no-such-id')
    .replace('{scope}/{subject}', `workspace/${world.workspace}`)
    .replace('{quota}', 'boxes');
  const query = [
    ...(withTeam ? [`team_uuid=${world.team}`] : []),
    ...(path === '/api/v1/audit' ? [`workspace_uuid=${world.workspace}`] : []),
  ].join('&');
  return { method, url: query === '' ? path : `${path}?${query}` };
}

function tokenOf(caller: (typeof CALLERS)[number]): string {
  switch (caller) {
    case 'outsider':
      return world.outsider.token;
    case 'member':
    case 'member+team':
      return world.member.token;
    case 'guest+team':
      return world.guest.token;
    case 'sat_read':
      return world.serviceAccounts.read;
    case 'sat_other':
      return world.serviceAccounts.other;
    case 'guest sign-in':
      return world.guestToken;
  }
}

it('every route of the module has a case here', () => {
  const documented = Object.entries(accounts.app.swagger().paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect([...CASES.map(({ route }) => route), ...PUBLIC, ...ELSEWHERE].sort()).toEqual(documented.sort());
});

describe.each(CASES)('$route', ({ route, body, statuses }) => {
  const send = (withTeam: boolean, token?: string) => {
    const { method, url } = request(route, withTeam);
    const shown = token === undefined ? {} : { token };
    return call(accounts.app, method, url, { ...shown, ...(body === undefined ? {} : { body }) });
  };

  it('returns the expected status for each kind of caller', async () => {
    const answered: Record<string, number> = {};
    for (const caller of CALLERS) {
      const answer = await send(caller.endsWith('+team'), tokenOf(caller));
      answered[caller] = answer.status;
      if (answer.status < 400) continue;
      expect(answer.body).toMatchObject({ status: answer.status, message: answer.body['error'] });
      expect(answer.headers['x-request-id']).toBe(answer.body['request_id']);
    }
    expect(answered).toEqual(Object.fromEntries(CALLERS.map((caller, index) => [caller, statuses[index]])));
  });

  it('returns 401 without a token and with a wrong one', async () => {
    expect((await send(false)).status).toBe(401);
    expect((await send(true, 'wrong')).status).toBe(401);
    expect((await send(true, world.dead['a revoked API token'])).status).toBe(401);
  });
});
