import { createSign, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@svc/testing';
import type { PlatformApi } from './platform-api.ts';

export const PASSWORD = 'correct horse battery';

/** A credential, and where it may act. */
export interface Caller {
  readonly headers: Record<string, string>;
  readonly workspace: string;
  readonly team: string | null;
}

export interface Person extends Caller {
  readonly id: string;
  readonly email: string;
}

/** A key, and the path that deletes it. */
export interface NewKey extends Caller {
  readonly path: string;
}

export const bearer = (token: unknown): Record<string, string> => ({ authorization: `Bearer ${String(token)}` });

/** Fails with the whole response, so that a scenario shows where it broke. */
export async function done(
  platform: PlatformApi,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await platform.call(method, path, headers, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function signIn(platform: PlatformApi, email: string): Promise<Person> {
  const { access_token: token, user } = await done(
    platform,
    'POST',
    '/api/auth/login',
    {},
    { email, password: PASSWORD },
  );
  const headers = bearer(token);
  const { workspaces } = await done(platform, 'GET', '/api/v1/workspaces', headers);
  const [workspace] = workspaces as { uuid: string }[]; // the shapes are tested in the accounts module
  const { id } = user as { id: string };
  return { id, email, headers, workspace: workspace?.uuid ?? '', team: null };
}

/** The same sign-in, as a browser session. */
export async function fetchCookie(platform: PlatformApi, email: string): Promise<Record<string, string>> {
  const answer = await platform.call('POST', '/api/auth/login', {}, { email, password: PASSWORD });
  const cookie = (answer.headers['set-cookie'] ?? []).map((each) => each.split(';', 1)[0]).join('; ');
  const { csrf_token: csrf } = await done(platform, 'GET', '/api/auth/me', { cookie });
  return { cookie, 'x-csrf-token': String(csrf) };
}

export async function newTeam(platform: PlatformApi, owner: Person): Promise<{ team: string; workspace: string }> {
  const { uuid: team } = await done(platform, 'POST', '/api/v1/teams', owner.headers, { name: `team ${randomUUID()}` });
  const body = { name: `workspace ${randomUUID()}`, team_uuid: team };
  const { uuid: workspace } = await done(platform, 'POST', '/api/v1/workspaces', owner.headers, body);
  return { team: String(team), workspace: String(workspace) };
}

/** A new user who joined the team by invitation. */
export async function newMember(
  platform: PlatformApi,
  owner: Person,
  { team, workspace }: { team: string; workspace: string },
  role: string,
): Promise<Person> {
  const email = `${randomUUID()}@example.com`;
  const { token } = await done(platform, 'POST', `/api/v1/teams/${team}/invitations`, owner.headers, { email, role });
  const account = { email, name: 'Member', password: PASSWORD };
  await done(platform, 'POST', `/api/v1/invitations/${String(token)}/accept`, {}, account);
  return { ...(await signIn(platform, email)), workspace, team };
}

export async function newToken(
  platform: PlatformApi,
  of: Person,
  expiresAt?: string,
): Promise<Caller & { id: string }> {
  const body = { name: 'test', ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
  const { id, token } = await done(platform, 'POST', '/api/tokens', of.headers, body);
  return { id: String(id), headers: bearer(token), workspace: of.workspace, team: of.team };
}

/** Long enough for the platform to create it on a busy machine. */
const SHORT_LIFE_MS = 5_000;

/** A token that has expired. */
export async function newExpiredToken(platform: PlatformApi, of: Person): Promise<Caller> {
  const token = await newToken(platform, of, new Date(Date.now() + SHORT_LIFE_MS).toISOString());
  await waitFor(async () => (await platform.call('GET', '/api/auth/me', token.headers)).status === 401);
  return token;
}

export async function newServiceAccount(
  platform: PlatformApi,
  { headers, team }: Caller,
  workspace: string,
  { expiresAt, scopes = ['admin'] }: { expiresAt?: string; scopes?: readonly string[] } = {},
): Promise<NewKey> {
  const path = `/api/v1/workspaces/${workspace}/service-accounts`;
  const scope = team === null ? '' : `?team_uuid=${team}`;
  const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt };
  const body = { name: 'ci', scopes, ...expiry };
  const { id, token } = await done(platform, 'POST', `${path}${scope}`, headers, body);
  return { path: `${path}/${String(id)}${scope}`, headers: bearer(token), workspace, team: null };
}

/** A key of E2B clients, of the workspace that the caller names. */
export async function newE2bKey(platform: PlatformApi, { headers, workspace, team }: Caller): Promise<NewKey> {
  const scope = `workspace_uuid=${workspace}${team === null ? '' : `&team_uuid=${team}`}`;
  const { id, key } = await done(platform, 'POST', `/e2b/api-keys?${scope}`, headers, { name: 'ci' });
  return { path: `/e2b/api-keys/${String(id)}?${scope}`, headers: bearer(key), workspace, team: null };
}

export async function newGuest(platform: PlatformApi): Promise<Caller> {
  const { token } = await done(platform, 'POST', '/api/auth/guest', {}, { username: 'visitor' });
  const headers = bearer(token);
  const { workspaces } = await done(platform, 'GET', '/api/v1/workspaces', headers);
  const [workspace] = workspaces as { uuid: string }[]; // the shapes are tested in the accounts module
  return { headers, workspace: workspace?.uuid ?? '', team: null };
}

/** The headers that address a sandbox by its own token, which this caller received. No machine is behind it. */
export async function newSandboxToken(platform: PlatformApi, caller: Caller): Promise<Record<string, string>> {
  const { databases, replica } = platform.composition;
  const name = randomBytes(16)
    .toString('hex')
    .replaceAll(/[0189]/g, 'a')
    .slice(0, 26);
  const now = new Date().toISOString();
  await databases.main.kysely
    .withTables<{ sandbox: Record<string, string | number | null> }>()
    .insertInto('sandbox')
    .values({
      id: `sbx_${name}`,
      workspace_uuid: caller.workspace,
      owner_id: 'none',
      accountable_id: 'none',
      node: replica.id,
      driver: 'local',
      name,
      image: 'busybox',
      status: 'running',
      environment: '{}',
      labels: '{}',
      cpu_millis: 1000,
      memory_mb: 64,
      disk_mb: 64,
      pids: 64,
      network: 'none',
      isolation: 'namespaces',
      created_at: now,
      last_activity_at: now,
    })
    .execute();
  const scope = `workspace_uuid=${caller.workspace}${caller.team === null ? '' : `&team_uuid=${caller.team}`}`;
  const found = await done(platform, 'GET', `/e2b/sandboxes/${name}?${scope}`, caller.headers);
  return { 'e2b-sandbox-id': name, 'x-access-token': String(found['envdAccessToken']) };
}

/** A volume and the headers that reach its files by its own token, which this caller received. No files are behind it. */
export async function newVolumeToken(
  platform: PlatformApi,
  caller: Caller,
): Promise<{ volume: string; headers: Record<string, string> }> {
  const { databases, replica } = platform.composition;
  const id = `vol_${randomBytes(13)
    .toString('hex')
    .replaceAll(/[0189]/g, 'a')}`;
  await databases.main.kysely
    .withTables<{ sandbox_volume: Record<string, string | number | null> }>()
    .insertInto('sandbox_volume')
    .values({
      id,
      workspace_uuid: caller.workspace,
      owner_id: 'none',
      node: replica.id,
      driver: 'local',
      kind: 'volume',
      name: id,
      taken_name: id,
      size_mb: 64,
      size_bytes: 0,
      source_id: null,
      state: 'ready',
      created_at: new Date().toISOString(),
    })
    .execute();
  const scope = `workspace_uuid=${caller.workspace}${caller.team === null ? '' : `&team_uuid=${caller.team}`}`;
  const found = await done(platform, 'GET', `/e2b/volumes/${id}?${scope}`, caller.headers);
  return { volume: id, headers: bearer(found['token']) };
}

/** The path of a URL that takes files for builds without a credential, which this caller received. */
export async function newUploadPath(platform: PlatformApi, caller: Caller): Promise<string> {
  const id = `tpl_${randomBytes(8).toString('hex')}`;
  await platform.composition.databases.main.kysely
    .withTables<{ template: Record<string, string> }>()
    .insertInto('template')
    .values({
      id,
      workspace_uuid: caller.workspace,
      name: id.toLowerCase(),
      owner_id: 'none',
      created_at: new Date().toISOString(),
    })
    .execute();
  const scope = `workspace_uuid=${caller.workspace}${caller.team === null ? '' : `&team_uuid=${caller.team}`}`;
  const found = await done(platform, 'GET', `/e2b/templates/${id}/files/hash?${scope}`, caller.headers);
  return new URL(String(found['url'])).pathname;
}

/** A minimal OpenID Connect issuer on this machine: one key and its tokens. */
export async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ keys: [key] }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP listener's address is an object
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    config: {
      issuer,
      audience: 'svc',
      jwks_url: `${issuer}/keys`,
      email_claim: 'email',
      require_verified_email: true,
      auto_create: false,
    },
    sign: (email: string): string => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: 'svc', sub: email, email, email_verified: true, iat: now, exp: now + 600 };
      const content = `${encode({ alg: 'RS256', kid: '1' })}.${encode(claims)}`;
      return `${content}.${createSign('RSA-SHA256').update(content).sign(privateKey, 'base64url')}`;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
