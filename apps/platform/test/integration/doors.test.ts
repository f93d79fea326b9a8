import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createMaker, type Action } from '@svc/access';
import { authorizeTable, type KnownAction, type Rule } from '@svc/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  done,
  newExpiredToken,
  newMember,
  newSandboxToken,
  newServiceAccount,
  newTeam,
  newToken,
  newUploadPath,
  newVolumeToken,
  signIn,
  type Caller,
  type Person,
} from '../support/callers.ts';
import { E2B_COUNTERPARTS } from '../support/door-tables.ts';
import { startHeldPlatform, type HeldPlatform, type Route } from '../support/held-platform.ts';

/** Whether the caller was let in, by route or upgrade. */
type Verdicts = Readonly<Record<string, boolean>>;

/** Limits of a principal come after the decision, so that this caller was let in. */
const LIMITED = 429;

let platform: HeldPlatform;
let team: string;
let workspace: string;
let callers: Readonly<Record<string, Caller>>;
/** Callers with a credential that works somewhere. */
const isKnown = new Set<string>();
/** The verdicts of every route about every caller. */
const verdicts = new Map<string, Verdicts>();

const nameOf = ({ method, url }: Route): string => `${method} ${url}`;
const isE2b = ({ url }: Route): boolean => Object.keys(E2B_COUNTERPARTS).some((name) => name.endsWith(` ${url}`));
const isUpload = ({ url }: Route): boolean => url === '/e2b/template-files/:ticket';
const isVolumeContent = ({ url }: Route): boolean => url.startsWith('/e2b/volumecontent/:id/');
const ofWorkspace = (): readonly Route[] => platform.routes.filter(({ scope }) => scope === 'workspace');

async function createCallers(): Promise<Readonly<Record<string, Caller>>> {
  const operator = await signIn(platform, 'owner@example.com');
  const person = async (): Promise<Person> => newMember(platform, operator, await newTeam(platform, operator), 'guest');
  const owner = await person();
  ({ team, workspace } = await newTeam(platform, owner));
  const mine: Person = { ...owner, workspace, team: null };
  const joined = (role: string): Promise<Person> => newMember(platform, owner, { team, workspace }, role);
  const stranger = await person();
  const theirs = await newTeam(platform, stranger);
  const account = (scopes: readonly string[]) => newServiceAccount(platform, mine, workspace, { scopes });
  const member = await joined('member');
  const removed = await joined('admin');
  await done(platform, 'DELETE', `/api/v1/teams/${team}/members/${removed.id}`, owner.headers);
  const deleted = await newToken(platform, mine);
  await done(platform, 'DELETE', `/api/tokens/${deleted.id}`, owner.headers);
  const expired = await newExpiredToken(platform, mine);
  const gone = await account(['admin']);
  await done(platform, 'DELETE', gone.path, owner.headers);
  return {
    nobody: { headers: {}, workspace, team: null },
    'a wrong token': { headers: bearer('svc_wrong'), workspace, team: null },
    'a token that has expired': expired,
    'a token that was deleted': deleted,
    'a service account that was deleted': gone,
    'the operator of the installation': { ...operator, workspace, team: null },
    stranger: { ...stranger, workspace, team: null },
    'a stranger who names the team': { ...stranger, workspace, team },
    'the owner of another workspace, in their team': { ...stranger, workspace, team: theirs.team },
    'a service account of another workspace': {
      ...(await newServiceAccount(platform, stranger, theirs.workspace, {})),
      workspace,
    },
    'a member who was removed': removed,
    'a member who does not name the team': { ...member, team: null },
    guest: await joined('guest'),
    member,
    'a token of a member': await newToken(platform, member),
    admin: await joined('admin'),
    owner: mine,
    'a token of the owner': await newToken(platform, mine),
    'a service account that reads': await account(['read']),
    'a service account that writes': await account(['write']),
    'a service account that administers': await account(['admin']),
  };
}

beforeAll(async () => {
  platform = await startHeldPlatform({ password: { memory_kib: 8, passes: 1, parallelism: 1 } });
  callers = await createCallers();
  const found = new Map<string, Record<string, boolean>>();
  for (const [name, caller] of Object.entries(callers)) {
    if ((await platform.call('GET', '/api/auth/me', caller.headers)).status === 200) isKnown.add(name);
    for (const [route, isIn] of await askAll(caller)) {
      found.set(route, { ...found.get(route), [name]: isIn });
    }
  }
  for (const [route, each] of found) verdicts.set(route, each);
}, 120_000);
afterAll(() => platform.close());

/** Asks every route of a workspace; a capability stands for the caller where the route takes one. */
async function askAll(caller: Caller): Promise<readonly (readonly [string, boolean])[]> {
  const token = await newSandboxToken(platform, caller).catch(() => null);
  const path = await newUploadPath(platform, caller).catch(() => null);
  const content = await newVolumeToken(platform, caller).catch(() => null);
  const wayOf = (route: Route): readonly [headers: Record<string, string> | null, path: string | null] => {
    if (isUpload(route)) return [{}, path];
    if (isVolumeContent(route)) {
      const named = { ...route, url: route.url.replace(':id', content?.volume ?? 'none') };
      return [content?.headers ?? null, `${pathOf(named, caller)}&path=/x`];
    }
    return [route.byCapability ? token : caller.headers, pathOf(route, caller)];
  };
  return Promise.all(
    ofWorkspace().map(async (route) => {
      const [headers, at] = wayOf(route);
      // A caller who gets no capability is not let in.
      return [nameOf(route), headers !== null && at !== null && (await isLetIn(route, at, headers))] as const;
    }),
  );
}

async function isLetIn(route: Route, path: string, headers: Record<string, string>): Promise<boolean> {
  const opened = await platform.open(route, path, headers);
  opened.close();
  if (opened.isOpen) return true;
  const status = await opened.ended;
  expect([401, 403, 404, LIMITED]).toContain(status);
  return status === LIMITED;
}

function scopeOf({ workspace: uuid, team: of }: Caller): string {
  return `workspace_uuid=${uuid}${of === null ? '' : `&team_uuid=${of}`}`;
}

function pathOf({ url }: Route, caller: Caller): string {
  const path = url
    .replace(':workspace_uuid', caller.workspace)
    .replaceAll(/:[a-z_]+/gi, () => 'x')
    .replaceAll('*', 'x');
  return `${path}?${scopeOf(caller)}`;
}

function verdictsOf(route: string): Verdicts {
  const found = verdicts.get(route);
  if (found === undefined) throw new Error(`the platform has no route ${route}`);
  return found;
}

/** The platform's own routes of an action, which are the reference. */
function verdictsOfAction(action: string): Verdicts {
  const route = ofWorkspace().find((each) => each.action === action && !isE2b(each));
  if (route === undefined) throw new Error(`no route has the action ${action}`);
  return verdictsOf(nameOf(route));
}

describe('every route of a workspace', () => {
  it('lets in the same callers as every other one of its action', () => {
    const differing = ofWorkspace().filter((route) => {
      const reference = verdictsOfAction(route.action ?? '');
      return JSON.stringify(verdictsOf(nameOf(route))) !== JSON.stringify(reference);
    });
    expect(differing.map(nameOf)).toEqual([]);
    expect(ofWorkspace().length).toBeGreaterThan(200);
  });

  it('lets in nobody without a right in the workspace, and its owner', () => {
    const none = Object.keys(callers).slice(0, Object.keys(callers).indexOf('guest'));
    expect(none).toHaveLength(12);
    for (const [route, each] of verdicts) {
      expect([route, none.filter((name) => each[name])]).toEqual([route, []]);
      expect([route, each['owner'], each['a token of the owner']]).toEqual([route, true, true]);
    }
  });
});

describe('every other guarded route', () => {
  /** Roles in the team, written by hand; everyone else is no member. */
  const IN_TEAM: Readonly<Record<string, string>> = {
    guest: 'team_guest',
    member: 'team_member',
    'a member who does not name the team': 'team_member',
    'a token of a member': 'team_member',
    admin: 'team_admin',
    owner: 'team_owner',
    'a token of the owner': 'team_owner',
  };
  const isToken = (name: string): boolean => name.includes('token');

  /** What the table of permissions says of this caller. */
  function isExpected(action: string, name: string): boolean {
    const rule: Rule = authorizeTable[action as KnownAction]; // every declared action is in the table
    if (!isKnown.has(name)) return false;
    const isUser = !name.includes('service account');
    const allows: readonly string[] = rule.allows;
    switch (rule.scope) {
      case 'installation':
        return name === 'the operator of the installation';
      case 'team':
        return allows.includes(IN_TEAM[name] ?? 'nobody');
      case 'self':
        return allows.includes(isUser ? 'user' : 'service_account') && (rule.confirmed !== true || !isToken(name));
      default:
        return true; // the workspace is optional on such a route, and its handler decides
    }
  }

  it('lets in whom the table of permissions names: for accounts, teams and the installation', async () => {
    const routes = platform.routes.filter(({ scope }) => scope === 'self');
    for (const [name, caller] of Object.entries(callers)) {
      const found = await Promise.all(
        routes.map(async (route) => {
          const path = pathOf(route, caller).replace('/teams/x', `/teams/${team}`);
          return [nameOf(route), await isLetIn(route, path, caller.headers)] as const;
        }),
      );
      const expected = routes.map((route) => [nameOf(route), isExpected(route.action ?? '', name)] as const);
      expect([name, Object.fromEntries(found)]).toEqual([name, Object.fromEntries(expected)]);
    }
    expect(routes.length).toBeGreaterThan(30);
  });
});

describe("every route for E2B's clients", () => {
  it('has a counterpart among the platform’s own routes, or a reason', () => {
    const theirs = platform.routes.filter(({ url, scope }) => scope !== 'public' && /^\/(e2b|files)(\/|$)/.test(url));
    expect(Object.keys(E2B_COUNTERPARTS).toSorted()).toEqual(theirs.map(nameOf).toSorted());
  });

  it('lets in the same callers as its counterpart, or differs for a reason', () => {
    for (const [route, counterpart] of Object.entries(E2B_COUNTERPARTS)) {
      const isSame = typeof counterpart === 'string';
      const reference = isSame ? verdictsOf(counterpart) : verdictsOfAction(counterpart.action);
      expect([route, verdictsOf(route)]).toEqual([route, reference]);
      // A difference that is none any more has no row.
      const named = ofWorkspace().find(
        (each) => nameOf(each) === (!isSame && 'route' in counterpart && counterpart.route),
      );
      if (!isSame && named !== undefined) expect([route, counterpart.action]).not.toEqual([route, named.action]);
    }
  });
});

describe('what a caller leaves behind', () => {
  /** The makers of S3 keys, presigned URLs and mounts have no team: theirs is that of the workspace. */
  const DIFFERING: Readonly<Record<string, string>> = { 'a member who does not name the team': 'member' };

  it('may do what the caller may do by REST, action by action', async () => {
    const { access } = platform.composition.accounts;
    const actions = [...new Set(ofWorkspace().flatMap(({ action }) => (action === null ? [] : [action as Action])))];
    const makers = Object.entries(callers).filter(([name]) => isKnown.has(name));
    for (const [name, { headers }] of makers) {
      const source = { headers, method: 'GET', remoteAddress: '127.0.0.1', isSecure: false };
      const maker = createMaker(await access.authenticate(source));
      const allowed = await access.allowedActions({ maker, workspaceUuid: workspace, actions });
      const expected = actions.filter((action) => verdictsOfAction(action)[DIFFERING[name] ?? name]);
      expect([name, [...allowed].toSorted()]).toEqual([name, expected.toSorted()]);
    }
    expect(makers.length).toBeGreaterThan(12);
  });
});

/** A caller who is let in meets what is missing on this platform: a running sandbox, an agent. */
async function upgrade(path: string, { headers }: Caller, protocol: string, more: Record<string, string> = {}) {
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: platform.port,
    path,
    agent: false,
    headers: {
      ...headers,
      ...more,
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version': '13',
    },
  });
  outgoing.end();
  const status = await Promise.race([
    once(outgoing, 'response').then(([response]) => {
      (response as NodeJS.ReadableStream).resume();
      return (response as { statusCode?: number }).statusCode ?? 0; // Node's event
    }),
    once(outgoing, 'upgrade').then(([, socket]) => {
      (socket as { destroy(): void }).destroy(); // Node's event
      return 101;
    }),
  ]);
  return status;
}

describe('every upgrade', () => {
  let cluster: string;
  let sandbox: string;

  beforeAll(async () => {
    const { owner } = callers;
    if (owner === undefined) throw new Error('there is an owner');
    const added = await done(platform, 'POST', `/v1/clusters?${scopeOf(owner)}`, owner.headers, { name: 'production' });
    cluster = String((added['cluster'] as { id?: unknown } | undefined)?.id ?? added['id']);
    sandbox = `sbx_${String((await newSandboxToken(platform, owner))['e2b-sandbox-id'])}`;
  });

  /** The upgrades that act for a caller, with the action of their routes, and how each is asked. */
  const UPGRADES: Readonly<Record<string, { action: string; ask: (caller: Caller) => Promise<number> }>> = {
    terminal: {
      action: 'sandbox:exec',
      ask: (caller) => upgrade(`/ws/terminal/${sandbox}?${scopeOf(caller)}`, caller, 'websocket'),
    },
    shell: {
      action: 'command:exec',
      ask: (caller) =>
        upgrade(`/v1/clusters/${cluster}/shell?namespace=a&pod=b&${scopeOf(caller)}`, caller, 'websocket'),
    },
    forward: {
      action: 'tunnel:use',
      ask: (caller) => upgrade(`/v1/clusters/${pathWithTeam(caller)}/forward/web`, caller, 'svc-mux/1'),
    },
    tunnel: {
      action: 'tunnel:use',
      ask: (caller) => upgrade(`/v1/clusters/${pathWithTeam(caller)}/tunnel/web/x`, caller, 'x'),
    },
  };
  /** Upgrades without a caller of their own. */
  const OTHERS: Readonly<Record<string, string>> = {
    preview: 'a link, a traffic token or a public port stands for a caller: modules/sandboxes/test/integration/doors',
    ssh: 'serves other replicas only; every other request is refused below',
    'agent channel': 'for agents, by their token: modules/clusters/test/integration/channel',
    'agent tunnel': 'for agents, by their token: modules/clusters/test/integration/tunnel',
    'public-objects': 'refuses every upgrade',
  };
  const pathWithTeam = ({ team: of }: Caller): string => (of === null ? cluster : `${cluster};team=${of}`);

  it('has a row, or a reason', () => {
    const names = platform.composition.upgrades.routes.map(({ name }) => name);
    expect([...Object.keys(UPGRADES), ...Object.keys(OTHERS)].toSorted()).toEqual(names.toSorted());
  });

  it.each(Object.keys(UPGRADES))('lets in the same callers as the routes of its action: %s', async (name) => {
    const { action = '', ask = async () => 0 } = UPGRADES[name] ?? {};
    const actual: Record<string, boolean> = {};
    for (const [who, caller] of Object.entries(callers)) actual[who] = ![401, 403, 404].includes(await ask(caller));
    expect(actual).toEqual(verdictsOfAction(action));
  });

  it('between replicas is refused to every caller', async () => {
    for (const [who, caller] of Object.entries(callers)) {
      const path = `/internal/ssh/${sandbox}?kind=exec&${scopeOf(caller)}`;
      expect([who, await upgrade(path, caller, 'svc-ssh-channel')]).toEqual([who, 404]);
      const forged = { 'x-svc-hop': 'e30.AAAA' };
      expect([who, await upgrade(path, caller, 'svc-ssh-channel', forged)]).toEqual([who, 403]);
    }
  });
});
