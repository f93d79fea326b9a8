import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { PlayedKubernetes } from '../../support/played-kubernetes.ts';
import { startRig, type Rig } from '../../support/rig.ts';

const POD = { metadata: { name: 'web-1' }, spec: { containers: [{ name: 'main' }] } };
const TWO = { metadata: { name: 'two' }, spec: { containers: [{ name: 'main' }, { name: 'side' }] } };
const EXIT_7 = {
  status: 'Failure',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '7' }] },
};

let rig: Rig;
let cluster: { id: string; token: string };
let kubernetes: PlayedKubernetes;
let teamUuid: string;
let container: WebSocket | undefined;
const fromPlatform: Buffer[] = [];
const clients: WebSocket[] = [];

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 }, publicUrl: 'https://svc.example' });
  cluster = await rig.addCluster();
  teamUuid = rig.access.team(rig.owner.workspaceUuid);
  kubernetes = await PlayedKubernetes.connect(rig, cluster, {
    answer: ({ pathname }) => {
      if (pathname.endsWith('/pods/web-1')) return { body: POD };
      if (pathname.endsWith('/pods/two')) return { body: TWO };
      return { status: 404, body: { message: 'pods "gone" not found' } };
    },
    exec: (socket) => {
      container = socket;
      socket.on('message', (data: Buffer) => fromPlatform.push(data));
    },
  });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  container = undefined;
  fromPlatform.length = 0;
});
afterAll(async () => {
  await kubernetes.close();
  await rig.close();
});

interface Client {
  socket: WebSocket;
  controls: Record<string, unknown>[];
  output: Buffer[];
  closed: Promise<{ code: number; reason: string }>;
}

const PATH = '/v1/clusters/production/shell?namespace=shop&pod=web-1';

function open(path = PATH, headers: Record<string, string> = rig.owner.headers, protocols: string[] = []): Client {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, protocols, { headers });
  clients.push(socket);
  const controls: Record<string, unknown>[] = [];
  const output: Buffer[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) output.push(data);
    else controls.push(JSON.parse(data.toString()) as Record<string, unknown>); // each control is an object
  });
  socket.on('error', () => undefined);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return { socket, controls, output, closed };
}

async function refusal(path: string, headers: Record<string, string>): Promise<{ status: number; code: string }> {
  const { socket } = open(path, headers);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(await text(response)) as { error: { code: string } }; // the contract's body
  return { status: response.statusCode ?? 0, code: body.error.code };
}

async function started(client: Client): Promise<WebSocket> {
  await waitFor(() => client.controls.some(({ type }) => type === 'ready'));
  return waitFor(() => container);
}

const frame = (channel: number, body: string): Buffer => Buffer.concat([Buffer.of(channel), Buffer.from(body)]);

describe('a shell', () => {
  it('forwards input, output and sizes, and reports the exit', async () => {
    const client = open(`${PATH}&cols=100&rows=30`);
    const process = await started(client);
    expect(client.controls[0]).toEqual({ type: 'ready', container: 'main', tty: true });
    client.socket.send(frame(0, 'ls\r'));
    client.socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }));
    client.socket.send(JSON.stringify({ type: 'eof' }));
    await waitFor(() => fromPlatform.length === 4);
    expect(fromPlatform).toEqual([
      frame(4, '{"Width":100,"Height":30}'),
      frame(0, 'ls\r'),
      frame(4, '{"Width":120,"Height":40}'),
      Buffer.of(255, 0),
    ]);
    process.send(frame(1, 'out'));
    process.send(frame(2, 'err'));
    process.send(frame(3, JSON.stringify(EXIT_7)));
    process.close(1000);
    expect(await client.closed).toEqual({ code: 1000, reason: '{"exit_code":7}' });
    expect(client.output).toEqual([frame(1, 'out'), frame(2, 'err')]);
    expect(client.controls.at(-1)).toEqual({ type: 'exit', exit_code: 7 });
    expect(rig.audit.entries).toContainEqual(
      expect.objectContaining({
        action: 'command:exec',
        resource: 'cluster/production',
        details: { namespace: 'shop', pod: 'web-1' },
      }),
    );
  });

  it('drops a control with invalid values, and continues', async () => {
    const client = open(`${PATH}&cols=100&rows=30`);
    await started(client);
    for (const [cols, rows] of [
      [0, 24],
      ['80', '24'],
      [80.5, 24],
      [80, 65_536],
      [undefined, undefined],
    ]) {
      client.socket.send(JSON.stringify({ type: 'resize', cols, rows }));
    }
    client.socket.send(JSON.stringify({ type: 'ack', bytes: 'all' }));
    client.socket.send(frame(0, 'ls\r'));
    await waitFor(() => fromPlatform.length > 1);
    expect(fromPlatform).toEqual([frame(4, '{"Width":100,"Height":30}'), frame(0, 'ls\r')]);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('runs a command without a terminal, with separate stdout and stderr', async () => {
    const client = open(`${PATH}&tty=false&command=cat&command=-n`);
    await started(client);
    const asked = new URL(kubernetes.asked.at(-1) ?? '', 'http://kubernetes');
    expect(asked.pathname).toBe('/api/v1/namespaces/shop/pods/web-1/exec');
    expect(asked.searchParams.getAll('command')).toEqual(['cat', '-n']);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ tty: 'false', stdin: 'true', stderr: 'true' });
  });

  it('closes the connection to the container when its client disconnects', async () => {
    const client = open();
    const process = await started(client);
    client.socket.terminate();
    await waitFor(() => process.readyState === WebSocket.CLOSED);
  });

  it('loses nothing for a slow reader', async () => {
    const client = open();
    const process = await started(client);
    client.socket.pause();
    const piece = frame(1, 'x'.repeat(64 * 1024 - 1));
    for (let index = 0; index < 256; index += 1) process.send(piece);
    process.send(frame(3, '{"status":"Success"}'));
    process.close(1000);
    client.socket.resume();
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(client.output.reduce((sum, data) => sum + data.length, 0)).toBe(256 * 64 * 1024);
  });

  it('sends an acknowledging client at most one window beyond what it has displayed', async () => {
    const client = open(`${PATH}&ack=true`);
    const process = await started(client);
    const piece = frame(1, 'x'.repeat(64 * 1024 - 1));
    for (let index = 0; index < 64; index += 1) process.send(piece);
    const received = (): number => client.output.reduce((sum, data) => sum + data.length, 0);
    await waitFor(() => received() > 1024 * 1024);
    process.send(frame(3, '{"status":"Success"}'));
    process.close(1000);
    client.socket.send('{"type":"ping"}');
    await waitFor(() => client.controls.some(({ type }) => type === 'pong'));
    expect(received()).toBeLessThan(3 * 1024 * 1024);
    let acknowledged = 0;
    await waitFor(() => {
      client.socket.send(JSON.stringify({ type: 'ack', bytes: received() - acknowledged }));
      acknowledged = received();
      return acknowledged === 64 * 64 * 1024;
    });
    expect(await client.closed).toMatchObject({ code: 1000 });
  });

  it("reports the cluster's refusal in a frame, because browsers cannot see a refused handshake", async () => {
    const gone = open(PATH.replace('web-1', 'gone'));
    expect(await gone.closed).toMatchObject({ code: 4010 });
    expect(gone.controls).toMatchObject([{ type: 'error', status: 404, code: 'KUBERNETES_NOT_FOUND' }]);
    const two = open(PATH.replace('web-1', 'two'));
    expect(await two.closed).toMatchObject({ code: 4010 });
    expect(two.controls).toMatchObject([{ type: 'error', details: { field: 'container' } }]);
    expect(JSON.stringify(two.controls)).toContain('main, side');
  });

  it('reports that nothing ran, or that the connection was lost', async () => {
    const refused = open();
    const first = await started(refused);
    first.send(frame(3, JSON.stringify({ status: 'Failure', message: 'no such file' })));
    first.close(1000);
    expect(await refused.closed).toMatchObject({ code: 4010 });
    expect(refused.controls.at(-1)).toMatchObject({ type: 'error', message: 'no such file' });
    container = undefined;
    const lost = open();
    (await started(lost)).terminate();
    expect(await lost.closed).toMatchObject({ code: 1011 });
  });

  it('closes on an unknown message', async () => {
    const client = open();
    await started(client);
    client.socket.send(frame(9, 'x'));
    expect(await client.closed).toMatchObject({ code: 4009 });
  });

  it('accepts a token in the subprotocols, because browsers cannot send headers', async () => {
    const token = Buffer.from(rig.owner.token).toString('base64url');
    const client = open(PATH, { origin: 'https://svc.example' }, ['shell.v1', `bearer.${token}`]);
    await started(client);
    expect(client.socket.protocol).toBe('shell.v1');
  });
});

describe('a refused shell', () => {
  it('returns 401 without a token and with a wrong one', async () => {
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: `Bearer ${cluster.token}` }]) {
      expect(await refusal(PATH, headers)).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    }
  });

  it('returns 404 to a stranger, in their own workspace and in ours', async () => {
    const stranger = rig.access.user('stranger');
    expect((await refusal(PATH, stranger.headers)).status).toBe(404);
    const ours = `${PATH}&workspace_uuid=${rig.owner.workspaceUuid}`;
    expect((await refusal(ours, stranger.headers)).status).toBe(404);
  });

  it('returns 403 to team guests, read-only tokens and guest sign-ins', async () => {
    const guest = rig.access.user('guest');
    rig.access.join(teamUuid, guest, 'guest');
    const ours = `${PATH}&workspace_uuid=${rig.owner.workspaceUuid}&team_uuid=${teamUuid}`;
    expect(await refusal(ours, guest.headers)).toMatchObject({ status: 403 });
    const reader = rig.access.serviceAccount(rig.owner.workspaceUuid, ['read']);
    expect(await refusal(PATH, reader.headers)).toMatchObject({ status: 403 });
    expect((await refusal(PATH, rig.access.guest().headers)).status).toBe(403);
  });

  it('returns 403 to pages of other sites, regardless of cookies', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      expect(await refusal(PATH, { origin, cookie: 'svc_session=x' })).toMatchObject({ status: 403 });
    }
  });

  it('returns 400 for an invalid handshake, without an audit entry', async () => {
    const before = rig.audit.entries.length;
    const connection = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const asked = request({
      port: rig.port,
      path: PATH,
      headers: { ...rig.owner.headers, ...connection, 'sec-websocket-key': 'short' },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(await text(response)).toContain('Sec-WebSocket-Key');
    expect(rig.audit.entries).toHaveLength(before);
  });

  it('returns 503 while there is no tunnel', async () => {
    await rig.addCluster('silent');
    const path = PATH.replace('production', 'silent');
    expect(await refusal(path, rig.owner.headers)).toEqual({ status: 503, code: 'AGENT_OFFLINE' });
  });

  it.each([
    ['pod=web-1', 'namespace'],
    ['namespace=shop', 'pod'],
    ['namespace=shop&pod=../secrets', 'pod'],
    ['namespace=shop&pod=web-1&container=A', 'container'],
    ['namespace=shop&pod=web-1&tty=maybe', 'tty'],
    ['namespace=shop&pod=web-1&cols=-1', 'cols'],
    ['namespace=shop&pod=web-1&command=', 'command'],
  ])('returns 400 for %s, naming %s', async (query, field) => {
    const { socket } = open(`/v1/clusters/production/shell?${query}`);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(await text(response))).toMatchObject({ error: { details: { field } } });
  });
});

describe('a shell during a platform restart', () => {
  it('is notified, and its process keeps running', async () => {
    const other = await startRig();
    const made = await other.addCluster();
    let process: WebSocket | undefined;
    const played = await PlayedKubernetes.connect(other, made, {
      answer: () => ({ body: POD }),
      exec: (socket) => (process = socket),
    });
    const socket = new WebSocket(`ws://127.0.0.1:${other.port}${PATH}`, { headers: other.owner.headers });
    const ready = once(socket, 'message');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    const upstream = await waitFor(() => process);
    await ready;
    await other.close();
    expect(await closed).toBe(1012);
    await waitFor(() => upstream.readyState === WebSocket.CLOSED);
    await played.close();
  });
});
