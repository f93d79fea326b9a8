import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { openDoors } from '../support/raw-ssh-client.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const PORT = 8080;
const TRAFFIC_TOKEN = 'e2b-traffic-access-token';
/** The driver of the test has no ports, so that this tells of a caller who was let through. */
const UNREACHABLE = 502;

type Door = (caller: FakeCaller | null) => Promise<number>;
type Doors = Readonly<Record<string, Door>>;

/**
 * Each action is enforced at several entry points: REST, WebSocket, ticket, link, the API and the data plane of E2B's
 * clients, traffic token and SSH. All of them must reject the same callers.
 */
describe('a sandbox', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let id: string;
  let team: string;
  let callers: Readonly<Record<string, FakeCaller | null>>;

  beforeAll(async () => {
    platform = await startPlatform({ driver, config: { ssh: { port: 0, max_connections: 100 } } });
    const { access, owner } = platform;
    const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
    id = String(created.body['id']);
    team = access.team(owner.workspaceUuid);
    const joined = (role: 'admin' | 'member' | 'guest'): FakeCaller => {
      const caller = access.user(role);
      access.join(team, caller, role);
      return caller;
    };
    const scoped = (scope: 'read' | 'write' | 'admin') => access.serviceAccount(owner.workspaceUuid, [scope]);
    const revoked = scoped('admin');
    access.revoke(revoked);
    callers = {
      owner,
      admin: joined('admin'),
      member: joined('member'),
      'guest of the team': joined('guest'),
      stranger: access.user('stranger'),
      'guest sign-in': access.guest(),
      'service account that reads': scoped('read'),
      'service account that writes': scoped('write'),
      'service account that administers': scoped('admin'),
      'service account of another workspace': access.serviceAccount(access.user('other').workspaceUuid, ['admin']),
      'a token that was revoked': revoked,
      nobody: null,
    };
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const isOfTeam = (caller: FakeCaller | null): boolean =>
    caller?.principal.kind === 'user' && caller !== platform.owner;
  const scopeOf = (caller: FakeCaller | null): string =>
    `workspace_uuid=${platform.owner.workspaceUuid}${isOfTeam(caller) ? `&team_uuid=${team}` : ''}`;
  const call = (method: string, path: string, caller: FakeCaller | null, body?: unknown) =>
    platform.call(method, `/api/containers/${id}${path}${path.includes('?') ? '&' : '?'}${scopeOf(caller)}`, {
      caller,
      ...(body === undefined ? {} : { body }),
    });
  const rest =
    (method: string, path: string, body?: unknown): Door =>
    async (caller) =>
      (await call(method, path, caller, body)).status;

  const opened = (options: Parameters<typeof TerminalClient.open>[2]): Promise<number> =>
    TerminalClient.open(platform.url, id, options).then(
      async (client) => {
        await client.close();
        return 101;
      },
      (error: { status: number }) => error.status,
    );
  const bearer = (caller: FakeCaller | null): string[] =>
    caller === null ? [] : [`bearer.${Buffer.from(caller.token).toString('base64url')}`];

  /** A request for the port of the sandbox. */
  const askPort = async (headers: Readonly<Record<string, string>>, path = '/'): Promise<number> => {
    const host = `${PORT}-${id.replace(/^sbx_/, '')}.sandboxes.localhost`;
    const { port } = new URL(platform.url);
    const asking = httpRequest({ host: '127.0.0.1', port, path, agent: false, headers: { ...headers, host } }).end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]; // Node's event
    answer.resume();
    return answer.statusCode === UNREACHABLE ? 200 : (answer.statusCode ?? 0);
  };

  /** Asks for the sandbox with a key, as clients of E2B do. */
  const byKey = (method: string, path: string, caller: FakeCaller | null) =>
    platform.call(method, `/e2b/sandboxes/${id.replace(/^sbx_/, '')}${path}?${scopeOf(caller)}`, {
      caller: null,
      headers: caller === null ? {} : { 'x-api-key': caller.token },
    });
  const byToken =
    (method: string, path: string, headers: Readonly<Record<string, string>>, content?: string): Door =>
    async (caller) => {
      const { status, body } = await byKey('GET', '', caller);
      if (status !== 200) return status;
      const all = {
        ...headers,
        'x-access-token': String(body['envdAccessToken']),
        'e2b-sandbox-id': id.replace(/^sbx_/, ''),
      };
      const init = { method, headers: all, ...(content === undefined ? {} : { body: content }) };
      const answer = await fetch(`${platform.url}/e2b/envd${path}`, init);
      await answer.arrayBuffer();
      return answer.status;
    };
  const procedure = (path: string, message: object): Door =>
    byToken('POST', path, { 'content-type': 'application/json' }, JSON.stringify(message));
  /** A call with a stream of responses: one message in an envelope. */
  const streamed = (path: string, message: object): Door => {
    const text = JSON.stringify(message);
    const head = String.fromCharCode(0, 0, 0, 0, text.length);
    return byToken('POST', path, { 'content-type': 'application/connect+json' }, head + text);
  };

  const EXEC: Doors = {
    'a command': rest('POST', '/exec', { command: 'exit 0' }),
    'a ticket': rest('POST', '/terminal/tickets'),
    'a preview link': rest('POST', '/ports', { port: PORT }),
    'the port of a preview link': async (caller) => {
      const { status, body } = await call('POST', '/ports', caller, { port: PORT });
      return status === 201 ? askPort({}, `/${new URL(String(body['url'])).search}`) : status;
    },
    'a terminal by header': (caller) => opened({ query: `?${scopeOf(caller)}`, headers: { ...caller?.headers } }),
    'a terminal by subprotocol': (caller) => opened({ query: `?${scopeOf(caller)}`, protocols: bearer(caller) }),
    'a terminal by ticket': async (caller) => {
      const { status, body } = await call('POST', '/terminal/tickets', caller);
      return status === 201 ? opened({ query: `?ticket=${String(body['ticket'])}` }) : status;
    },
    "a process of E2B's data plane": streamed('/process.Process/Start', {
      process: { cmd: '/bin/sh', args: ['-c', 'exit 0'] },
    }),
    'a port by traffic token': async (caller) => {
      const { status, body } = await byKey('POST', '/connect', caller);
      return status === 200 ? askPort({ [TRAFFIC_TOKEN]: String(body['trafficAccessToken']) }) : status;
    },
  };
  const FILES_READ: Doors = {
    'a listing': rest('GET', '/files/list?path=/'),
    'a file': rest('GET', '/files?path=/x'),
    'an archive': rest('GET', '/files?path=/x&archive=tar'),
    "a listing of E2B's data plane": procedure('/filesystem.Filesystem/ListDir', { path: '/' }),
    "a file of E2B's data plane": byToken('GET', '/files?path=/x', {}),
  };
  const FILES_WRITE: Doors = {
    'a file': rest('POST', '/files?path=/x'),
    'a folder': rest('POST', '/files/mkdir?path=/y'),
    "a folder of E2B's data plane": procedure('/filesystem.Filesystem/MakeDir', { path: '/y' }),
    "a file of E2B's data plane": byToken(
      'POST',
      '/files?path=/x',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nx\r\n--b--\r\n',
    ),
  };
  const READ: Doors = {
    'its record': rest('GET', ''),
    'its metrics': rest('GET', '/metrics'),
    "its record for E2B's clients": async (caller) => (await byKey('GET', '', caller)).status,
    "the state of E2B's data plane": byToken('GET', '/health', {}),
  };

  const WRITERS: Readonly<Record<string, number>> = {
    owner: 200,
    admin: 200,
    member: 200,
    'guest of the team': 403,
    stranger: 403,
    'guest sign-in': 404,
    'service account that reads': 403,
    'service account that writes': 200,
    'service account that administers': 200,
    'service account of another workspace': 404,
    'a token that was revoked': 401,
    nobody: 401,
  };
  const READERS = { ...WRITERS, 'guest of the team': 200, 'service account that reads': 200 };

  it.each([
    ['running something in it', EXEC, WRITERS],
    ['reading its files', FILES_READ, READERS],
    ['writing its files', FILES_WRITE, WRITERS],
    ['reading its record', READ, READERS],
  ])('admits the same callers at every entry point: %s', async (_what, doors, expected) => {
    const answers = await Promise.all(
      Object.entries(callers).map(async ([name, caller]) => {
        const statuses = new Map<string, number>();
        for (const [door, open] of Object.entries(doors)) {
          const status = await open(caller);
          statuses.set(door, status < 400 ? 200 : status);
        }
        return [name, Object.fromEntries(statuses)] as const;
      }),
    );
    const wanted = Object.entries(expected).map(([name, status]) => [
      name,
      Object.fromEntries(Object.keys(doors).map((door) => [door, status])),
    ]);
    expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(wanted));
  });

  /** The record of a token says what its holder asked for first; ports need more than that. */
  it('asks for the right to ports each time a traffic token is shown, whatever it was issued for', async () => {
    const account = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
    expect((await byKey('GET', '', account)).status).toBe(200);
    const { body } = await byKey('POST', '/connect', account);
    const shown = { [TRAFFIC_TOKEN]: String(body['trafficAccessToken']) };
    expect(await askPort(shown)).toBe(200);
    Object.assign(account.principal, { scopes: ['read'] });
    expect((await byKey('GET', '', account)).status).toBe(200);
    expect(await askPort(shown)).toBe(403);
  });

  /** Files over SFTP need the right to run programs: every SSH login can. */
  it('admits the same callers over SSH as to a terminal: commands, SFTP, and forwarded ports', async () => {
    const forwards = (): number =>
      platform.audit.entries.filter(({ details }) => details?.['request'] === 'forward').length;
    const admitted: Record<string, unknown> = {};
    for (const [name, caller] of Object.entries(callers)) {
      const username = isOfTeam(caller) ? `${id}+${team}` : id;
      const before = forwards();
      const doors = await openDoors(platform.sshPort ?? 0, { username, password: caller?.token ?? 'none' }, PORT);
      // Nothing listens at the port; the log shows that the client was let through to it.
      admitted[name] = doors === null ? null : { ...doors, forward: forwards() > before };
    }
    const all = { exec: true, sftp: true, forward: true };
    const wanted = Object.entries(WRITERS).map(([name, status]) => [name, status === 200 ? all : null]);
    expect(admitted).toEqual(Object.fromEntries(wanted));
  });
});
