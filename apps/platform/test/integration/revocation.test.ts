import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  newSandboxToken,
  newToken,
  newUploadPath,
  newVolumeToken,
  signIn,
  startIssuer,
  type Caller,
} from '../support/callers.ts';
import { startHeldPlatform, type HeldPlatform, type OpenRequest, type Route } from '../support/held-platform.ts';
import { prepare, type World } from '../support/revocation-scenarios.ts';
import { cases, CREDENTIALS, PUBLIC_ROUTES, UNSUPPORTED_ROUTES, WAYS, type Ends } from '../support/revocation-table.ts';

let platform: HeldPlatform;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let world: World;
/** Every route that was open in at least one scenario. */
const covered = new Set<string>();

beforeAll(async () => {
  issuer = await startIssuer();
  platform = await startHeldPlatform({
    password: { memory_kib: 8, passes: 1, parallelism: 1 },
    trusted_issuers: [issuer.config],
  });
  const owner = await signIn(platform, 'owner@example.com');
  world = { platform, owner, signExternally: (email) => issuer.sign(email), expiresInMs: 20_000 };
});
afterAll(async () => {
  await platform.close();
  await issuer.close();
});

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
const isVolumeContent = ({ url }: Route): boolean => url.startsWith('/e2b/volumecontent/:id/');
const isUpload = ({ url }: Route): boolean => url === '/e2b/template-files/:ticket';

/** Opens every route that the loss concerns. A workspace with sandboxes cannot be deleted. */
async function openAll(ends: Ends, isEmpty: boolean, caller: Caller): Promise<OpenRequest[]> {
  const routes = platform.routes.filter((route) => isHeld(route) && !isOfTeam(route));
  const wanted = ends === 'workspace' ? routes.filter(({ scope }) => scope === 'workspace') : routes;
  const byCredential = openRoutes(
    wanted.filter(({ byCapability }) => !byCapability),
    caller,
  );
  if (isEmpty) return byCredential;
  const token = await newSandboxToken(platform, caller);
  const uploadPath = await newUploadPath(platform, caller);
  const content = await newVolumeToken(platform, caller);
  const ofVolume = wanted
    .filter(isVolumeContent)
    .map((route) => platform.open(route, route.url.replace(':id', content.volume) + '?path=/x', content.headers));
  const opened = await Promise.all([
    byCredential,
    openRoutes(
      wanted.filter((route) => route.byCapability && !isUpload(route) && !isVolumeContent(route)),
      { ...caller, headers: token },
    ),
    Promise.all(ofVolume),
    ...wanted.filter(isUpload).map(async (route) => [await platform.open(route, uploadPath, {})]),
  ]);
  return opened.flat();
}

function openRoutes(routes: readonly Route[], caller: Caller): Promise<OpenRequest[]> {
  return Promise.all(routes.map((route) => platform.open(route, pathOf(route, caller), caller.headers)));
}

describe('what is open, on every route of the platform', () => {
  it.concurrent.each(cases())('ends if its $kind $way', async ({ way, kind, ends }) => {
    const { caller, take } = await prepare(world, way, kind);
    const control = await newToken(platform, world.owner);
    const [route] = platform.routes.filter(({ url }) => url === '/api/auth/me');
    if (route === undefined) throw new Error('the platform has lost a route');
    const kept = await platform.open(route, '/api/auth/me', control.headers);
    const opened = await openAll(ends, way === 'loses its workspace by deletion', caller);
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
});

describe('the table of revocations', () => {
  it('has every route, whatever routes there are', () => {
    const held = platform.routes.filter((route) => isHeld(route) && !isOfTeam(route)).map(nameOf);
    expect(held.filter((name) => !covered.has(name))).toEqual([]);
    expect(held.length).toBeGreaterThan(100);
  });

  it('has a case for each credential in each way, or says why there is none', () => {
    const cells = Object.values(WAYS).flatMap((row) => Object.values<string>(row.cells));
    expect(cells).toHaveLength(Object.keys(WAYS).length * CREDENTIALS.length);
    expect(cells.filter((cell) => cell !== 'case' && !/^\w+ .{10}/.test(cell))).toEqual([]);
  });

  it('has a case for each credential but the one that cannot be revoked', () => {
    const kinds = new Set<string>(cases().map(({ kind }) => kind));
    expect(CREDENTIALS.filter((kind) => !kinds.has(kind))).toEqual(['guest sign-in']);
  });

  it('leaves out the routes without a credential, and says why', () => {
    const open = platform.routes.filter(({ scope }) => scope === 'public').map(nameOf);
    const named = open.filter((name) => !UNSUPPORTED_ROUTES.test(name));
    expect([...new Set(named)].toSorted()).toEqual(Object.values(PUBLIC_ROUTES).flat().toSorted());
  });

  it('leaves out changes that may end their own right', () => {
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
  });
});
