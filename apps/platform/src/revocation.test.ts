import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  fetchCookie,
  done,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  newUploadPath,
  PASSWORD,
  signIn,
  startIssuer,
  type Caller,
  type Person,
} from './testing/callers.ts';
import { startHeldPlatform, type HeldPlatform, type OpenRequest, type Route } from './testing/held-platform.ts';

/** A credential and how it is revoked; `ends` says what is lost. */
interface Scenario {
  readonly name: string;
  /** `workspace`: the credential stays valid but loses access to its workspace. */
  readonly ends: 'credential' | 'workspace';
  /** A workspace with sandboxes is not deleted. */
  readonly isEmpty?: true;
  prepare(): Promise<{ caller: Caller; take: () => Promise<unknown> }>;
}

let platform: HeldPlatform;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let owner: Person;
/** Every route that was open in at least one scenario. */
const covered = new Set<string>();

beforeAll(async () => {
  issuer = await startIssuer();
  platform = await startHeldPlatform({
    password: { memory_kib: 8, passes: 1, parallelism: 1 },
    trusted_issuers: [issuer.config],
  });
  owner = await signIn(platform, 'owner@example.com');
});
afterAll(async () => {
  await platform.close();
  await issuer.close();
});

const soon = (): string => new Date(Date.now() + 8_000).toISOString();
const everywhere = (headers: Record<string, string>) =>
  done(platform, 'POST', '/api/auth/logout?everywhere=true', headers);
const person = async (): Promise<Person> => {
  const someone = await newMember(platform, owner, await newTeam(platform, owner), 'guest');
  const { uuid } = await done(platform, 'POST', '/api/v1/workspaces', someone.headers, { name: 'of their own' });
  return { ...someone, workspace: String(uuid), team: null };
};
const member = async (role = 'member'): Promise<{ caller: Person; team: string; workspace: string }> => {
  const { team, workspace } = await newTeam(platform, owner);
  return { caller: await newMember(platform, owner, { team, workspace }, role), team, workspace };
};
const memberPath = (team: string, { id }: Person): string => `/api/v1/teams/${team}/members/${id}`;

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a JWT, signed out',
    ends: 'credential',
    prepare: async () => {
      const caller = await person();
      return { caller, take: () => done(platform, 'POST', '/api/auth/logout', caller.headers) };
    },
  },
  {
    name: 'a JWT, signed out everywhere from another sign-in',
    ends: 'credential',
    prepare: async () => {
      const caller = await person();
      return { caller, take: async () => everywhere((await signIn(platform, caller.email)).headers) };
    },
  },
  {
    name: 'a JWT, after a change of the password',
    ends: 'credential',
    prepare: async () => {
      const caller = await person();
      const body = { current_password: PASSWORD, new_password: 'another horse battery' };
      const other = await signIn(platform, caller.email);
      return { caller, take: () => done(platform, 'POST', '/api/auth/password', other.headers, body) };
    },
  },
  {
    name: 'a session cookie, signed out everywhere',
    ends: 'credential',
    prepare: async () => {
      const { email, headers, workspace } = await person();
      const caller = { headers: await fetchCookie(platform, email), workspace, team: null };
      return { caller, take: () => everywhere(headers) };
    },
  },
  {
    name: 'an OIDC token, signed out everywhere',
    ends: 'credential',
    prepare: async () => {
      const { email, workspace, headers } = await person();
      const caller = { headers: bearer(issuer.sign(email)), workspace, team: null };
      await done(platform, 'GET', '/api/auth/me', caller.headers);
      return { caller, take: () => everywhere(headers) };
    },
  },
  {
    name: 'an API token, deleted',
    ends: 'credential',
    prepare: async () => {
      const user = await person();
      const caller = await newToken(platform, user);
      return { caller, take: () => done(platform, 'DELETE', `/api/tokens/${caller.id}`, user.headers) };
    },
  },
  {
    name: 'an API token of the operator, deleted',
    ends: 'credential',
    prepare: async () => {
      const caller = await newToken(platform, owner);
      return { caller, take: () => done(platform, 'DELETE', `/api/tokens/${caller.id}`, owner.headers) };
    },
  },
  {
    name: 'an API token, expired',
    ends: 'credential',
    prepare: async () => ({ caller: await newToken(platform, await person(), soon()), take: async () => undefined }),
  },
  {
    name: 'a service account, removed',
    ends: 'credential',
    prepare: async () => {
      const caller = await newServiceAccount(platform, owner, owner.workspace);
      return { caller, take: () => done(platform, 'DELETE', caller.path, owner.headers) };
    },
  },
  {
    name: 'a service account, expired',
    ends: 'credential',
    prepare: async () => ({
      caller: await newServiceAccount(platform, owner, owner.workspace, { expiresAt: soon() }),
      take: async () => undefined,
    }),
  },
  {
    name: 'a service account, whose workspace was deleted',
    ends: 'workspace',
    isEmpty: true,
    prepare: async () => {
      const { workspace } = await newTeam(platform, owner);
      const caller = await newServiceAccount(platform, owner, workspace);
      return { caller, take: () => done(platform, 'DELETE', `/api/v1/workspaces/${workspace}`, owner.headers) };
    },
  },
  {
    name: 'the owner, whose workspace was deleted',
    ends: 'workspace',
    isEmpty: true,
    prepare: async () => {
      const { workspace } = await newTeam(platform, owner);
      const caller = { ...owner, workspace };
      return { caller, take: () => done(platform, 'DELETE', `/api/v1/workspaces/${workspace}`, owner.headers) };
    },
  },
  {
    name: 'a member, removed',
    ends: 'workspace',
    prepare: async () => {
      const { caller, team } = await member();
      return { caller, take: () => done(platform, 'DELETE', memberPath(team, caller), owner.headers) };
    },
  },
  {
    name: 'the API token of a member, removed',
    ends: 'workspace',
    prepare: async () => {
      const { caller, team } = await member('admin');
      const take = () => done(platform, 'DELETE', memberPath(team, caller), owner.headers);
      return { caller: await newToken(platform, caller), take };
    },
  },
  {
    name: 'a member, of another role now',
    ends: 'workspace',
    prepare: async () => {
      const { caller, team } = await member('admin');
      return {
        caller,
        take: () => done(platform, 'PATCH', memberPath(team, caller), owner.headers, { role: 'member' }),
      };
    },
  },
  {
    name: 'a member, who left',
    ends: 'workspace',
    prepare: async () => {
      const { caller, team } = await member();
      return { caller, take: () => done(platform, 'DELETE', memberPath(team, caller), caller.headers) };
    },
  },
  {
    name: 'a member, whose workspace left the team',
    ends: 'workspace',
    prepare: async () => {
      const { caller, workspace } = await member();
      const path = `/api/v1/workspaces/${workspace}`;
      return { caller, take: () => done(platform, 'PATCH', path, owner.headers, { team_uuid: null }) };
    },
  },
];

/** Credentials and revocations not covered above, and where they are tested. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'a guest, expired':
    'lives a minute at least: modules/accounts/test/integration/access/recheck.test.ts moves its clock',
  'a ticket': 'modules/sandboxes/test/integration/taken-rights.test.ts',
  'an SSH key':
    'logs in over SSH only: modules/sandboxes/test/integration/ssh.test.ts, test/command-line/ssh.system.test.ts',
  'a preview link': 'modules/sandboxes/test/integration/taken-rights.test.ts',
  'a tunnel link': 'modules/clusters/test/integration/tunnel/tunnel-rights.test.ts',
  'an S3 key': 'the object store asks for its maker at each request: modules/object-store',
};

/** Parameters that decide what is accessed; the others belong to handlers, which no request here reaches. */
function pathOf({ url }: Route, { workspace, team }: Caller): string {
  const path = url
    .replace(':workspace_uuid', workspace)
    .replaceAll(/:[a-z_]+/gi, () => 'x')
    .replaceAll('*', 'x');
  return `${path}?workspace_uuid=${workspace}${team === null ? '' : `&team_uuid=${team}`}`;
}

const nameOf = ({ method, url }: Route): string => `${method} ${url}`;
const isHeld = ({ scope, unheld }: Route): boolean => scope !== 'public' && unheld === null;
/** Team routes are decided behind the guard, by the team in the path: short responses, which never stream. */
const isOfTeam = ({ url }: Route): boolean => url.startsWith('/api/v1/teams/:uuid');

async function openAll({ ends, isEmpty }: Scenario, caller: Caller): Promise<OpenRequest[]> {
  const routes = platform.routes.filter((route) => isHeld(route) && !isOfTeam(route));
  const wanted = ends === 'workspace' ? routes.filter(({ scope }) => scope === 'workspace') : routes;
  if (isEmpty === true)
    return openRoutes(
      wanted.filter(({ byCapability }) => !byCapability),
      caller,
    );
  const token = await newSandboxToken(platform, caller);
  const uploadPath = await newUploadPath(platform, caller);
  const isUpload = ({ url }: Route): boolean => url === '/e2b/template-files/:ticket';
  const opened = await Promise.all([
    openRoutes(
      wanted.filter(({ byCapability }) => !byCapability),
      caller,
    ),
    openRoutes(
      wanted.filter((route) => route.byCapability && !isUpload(route)),
      { ...caller, headers: token },
    ),
    ...wanted.filter(isUpload).map(async (route) => [await platform.open(route, uploadPath, {})]),
  ]);
  return opened.flat();
}

function openRoutes(routes: readonly Route[], caller: Caller): Promise<OpenRequest[]> {
  return Promise.all(routes.map((route) => platform.open(route, pathOf(route, caller), caller.headers)));
}

describe('what is open, on every route of the platform', () => {
  it.each(SCENARIOS)('ends: $name', async (scenario) => {
    const { caller, take } = await scenario.prepare();
    const control = await newToken(platform, owner);
    const [route] = platform.routes.filter(({ url }) => url === '/api/auth/me');
    if (route === undefined) throw new Error('the platform has lost a route');
    const kept = await platform.open(route, '/api/auth/me', control.headers);
    const opened = await openAll(scenario, caller);
    const open = opened.filter(({ isOpen }) => isOpen);
    for (const { route: each } of open) covered.add(nameOf(each));
    const refused = await Promise.all(opened.filter(({ isOpen }) => !isOpen).map(({ ended }) => ended));
    // Routes this caller may never use are refused at once, with a single status.
    expect(new Set([...refused, 403])).toEqual(new Set([403]));
    expect(open.length).toBeGreaterThan(0);
    await take();
    const statuses = await Promise.all(
      open.map(async (each) => ({ name: nameOf(each.route), status: await each.ended })),
    );
    expect(statuses.filter(({ status }) => ![401, 403, 404].includes(status))).toEqual([]);
    expect(kept).toMatchObject({ isOpen: true });
    expect(kept.isOver()).toBe(false);
    kept.close();
  });

  it('was opened by these scenarios, whatever routes there are', () => {
    const held = platform.routes.filter((route) => isHeld(route) && !isOfTeam(route)).map(nameOf);
    expect(held.filter((name) => !covered.has(name))).toEqual([]);
    expect(held.length).toBeGreaterThan(100);
  });

  it('is held unless the change may end its own right', () => {
    const unheld = platform.routes.filter((route) => route.scope !== 'public' && route.unheld !== null).map(nameOf);
    expect(unheld.toSorted()).toEqual([
      'DELETE /api/tokens/:id',
      'DELETE /api/v1/teams/:uuid',
      'DELETE /api/v1/teams/:uuid/members/:user_id',
      'DELETE /api/v1/workspaces/:workspace_uuid',
      'DELETE /api/v1/workspaces/:workspace_uuid/service-accounts/:id',
      'DELETE /e2b/api-keys/:id',
      'PATCH /api/v1/teams/:uuid/members/:user_id',
      'PATCH /api/v1/workspaces/:workspace_uuid',
      'POST /api/auth/logout',
      'POST /api/auth/password',
      'POST /api/v1/teams/:uuid/transfer',
      'POST /api/v1/workspaces/:workspace_uuid/transfer',
    ]);
    expect(Object.keys(ELSEWHERE)).toHaveLength(6);
  });
});

describe('upgrades of the platform', () => {
  it('are held, each with a test that takes their right away, or say why they need no right', () => {
    const byHold = Object.groupBy(platform.composition.upgrades.routes, ({ hold }) =>
      hold === 'required' ? 'held' : 'exempt',
    );
    expect(byHold.held?.map(({ name }) => name).toSorted()).toEqual([
      'forward',
      'preview',
      'shell',
      'ssh',
      'terminal',
      'tunnel',
    ]);
    expect(byHold.exempt?.map(({ name }) => name).toSorted()).toEqual([
      'agent channel',
      'agent tunnel',
      'public-objects',
    ]);
  });
});
