import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import type { ClusterAccess } from './access.ts';
import { createKubeClient, type KubeClient } from './client.ts';
import { execRoute, openExec, type ExecRoute } from './exec.ts';

const TARGET = {
  namespace: 'team',
  pod: 'web',
  container: 'main',
  command: ['sh', '-c', 'a b'],
  stdin: true,
  tty: false,
};
const signal = new AbortController().signal;

describe('openExec', () => {
  let server: Server;
  let sockets: WebSocketServer;
  let requests: IncomingMessage[];
  let client: KubeClient;
  let route: ExecRoute;
  let connections: Duplex[];
  let tokens: string[];
  /** Subprotocols that the server knows. */
  let known: string[];

  beforeEach(async () => {
    requests = [];
    connections = [];
    tokens = ['first'];
    known = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
    server = createServer();
    server.on('connection', (connection) => connections.push(connection));
    sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => known.find((each) => offered.has(each)) ?? false,
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const access: ClusterAccess = {
      server: new URL(`http://127.0.0.1:${port}/prefix/`),
      insecureSkipVerify: false,
      token: { current: () => Promise.resolve(tokens[0] ?? null), invalidate: () => void tokens.shift() },
      namespace: 'team',
    };
    client = createKubeClient(access);
    route = execRoute(client);
  });
  afterEach(async () => {
    client.close();
    for (const connection of connections) connection.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Accepts every upgrade and sends one message with the handshake. */
  function accept(): void {
    server.on('upgrade', (request, socket, head) => {
      requests.push(request);
      sockets.handleUpgrade(request, socket, head, (accepted) => accepted.send(Buffer.from('\u0001early')));
    });
  }

  /** Refuses upgrades with this response, up to `times`; then accepts. */
  function refuse(status: number, body: string, times = Number.POSITIVE_INFINITY): void {
    server.on('upgrade', (request, socket, head) => {
      requests.push(request);
      if (requests.length > times) return sockets.handleUpgrade(request, socket, head, () => undefined);
      socket.end(`HTTP/1.1 ${status} Said\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  it('asks for the command as the client’s identity, and loses no message that comes with the handshake', async () => {
    accept();
    const socket = await openExec(route, TARGET, { signal });
    const message = new Promise((resolve) => socket.once('message', resolve));
    socket.resume();
    expect(String(await message)).toBe('\u0001early');
    expect(socket.protocol).toBe('v5.channel.k8s.io');
    const url = new URL(requests[0]?.url ?? '', 'http://server');
    expect(url.pathname).toBe('/prefix/api/v1/namespaces/team/pods/web/exec');
    expect([...url.searchParams]).toEqual([
      ['container', 'main'],
      ['command', 'sh'],
      ['command', '-c'],
      ['command', 'a b'],
      ['stdin', 'true'],
      ['stdout', 'true'],
      ['stderr', 'true'],
      ['tty', 'false'],
    ]);
    expect(requests[0]?.headers.authorization).toBe('Bearer first');
  });

  it('speaks version 4 with an older API server', async () => {
    known = ['v4.channel.k8s.io'];
    accept();
    expect((await openExec(route, TARGET, { signal })).protocol).toBe('v4.channel.k8s.io');
  });

  it('runs over a stream in place of the socket', async () => {
    accept();
    const socket = await openExec(
      {
        server: new URL('http://kubernetes'),
        connection: () => {
          const [near, far] = duplexPair();
          server.emit('connection', far);
          return Promise.resolve({ createConnection: () => near });
        },
      },
      TARGET,
      { signal },
    );
    const message = new Promise((resolve) => socket.once('message', resolve));
    socket.resume();
    expect(String(await message)).toBe('\u0001early');
  });

  it('throws the refusal of the API server', async () => {
    refuse(403, JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'pods "web" is forbidden' }));
    await expect(openExec(route, TARGET, { signal })).rejects.toMatchObject({
      status: 403,
      reason: 'Forbidden',
      message: 'pods "web" is forbidden',
    });
  });

  it('reads the token again after a 401, once', async () => {
    tokens = ['old', 'new'];
    refuse(401, '{}', 1);
    await openExec(route, TARGET, { signal });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('refuses a 200 in place of an upgrade', async () => {
    refuse(200, '<html>');
    await expect(openExec(route, TARGET, { signal })).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('answered 200 instead of upgrading'),
    });
  });

  it('gives up on a server that does not answer', async () => {
    server.on('upgrade', () => undefined);
    await expect(openExec(route, TARGET, { signal, timeoutMs: 20 })).rejects.toMatchObject({
      code: 'EXEC_TIMEOUT',
    });
  });

  it('throws the reason of the signal', async () => {
    const reason = new Error('left');
    const abort = new AbortController();
    server.on('upgrade', () => abort.abort(reason));
    await expect(openExec(route, TARGET, { signal: abort.signal })).rejects.toBe(reason);
  });

  it('names no path outside of the pod', async () => {
    await expect(openExec(route, { ...TARGET, pod: '../secrets' }, { signal })).rejects.toMatchObject({
      code: 'INVALID_NAME',
    });
    expect(requests).toEqual([]);
  });
});
