import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMuxAcceptor } from './accept.ts';
import { dialMux, type MuxDialOptions } from './dial.ts';
import { MuxSession } from './session.ts';

/** How an intermediate proxy handles an unknown upgrade. */
let hinder: (request: IncomingMessage) => 'pass' | 'hang up' | number;
let server: Server;
let upgrades: string[];
const sessions: MuxSession[] = [];

beforeEach(async () => {
  hinder = () => 'pass';
  upgrades = [];
  const acceptor = createMuxAcceptor();
  server = createServer();
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(request.headers.upgrade ?? '');
    const decision = hinder(request);
    if (decision === 'hang up') return socket.destroy();
    if (decision !== 'pass') {
      return socket.end(
        `HTTP/1.1 ${decision} No\r\nRetry-After: 7\r\nContent-Length: 7\r\nConnection: close\r\n\r\nbecause`,
      );
    }
    const transport = acceptor.wants(request) ? acceptor.accept({ request, socket, head }) : null;
    if (transport === null) return socket.destroy();
    sessions.push(new MuxSession(transport, { role: 'server', onStream: (stream) => stream.pipe(stream) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.close();
  await new Promise((resolve) => server.close(resolve));
});

const { signal } = new AbortController();

async function dial(options: Partial<MuxDialOptions> = {}): Promise<string> {
  const { port } = server.address() as AddressInfo; // a TCP listener
  const url = new URL(`http://127.0.0.1:${port}/v1/mux`);
  const { transport, kind } = await dialMux({ url, headers: {}, timeoutMs: 5000, signal, ...options });
  const session = new MuxSession(transport, { role: 'client' });
  sessions.push(session);
  const stream = session.open();
  stream.end('through');
  expect(await text(stream)).toBe('through');
  return kind;
}

describe('dialMux', () => {
  it('uses the raw socket if nothing blocks it', async () => {
    expect(await dial()).toBe('raw');
    expect(upgrades).toEqual(['svc-mux/1']);
  });

  it.each([['hang up'], [400], [426], [502]] as const)(
    'falls back to a WebSocket if a proxy answers the raw upgrade with %s',
    async (fault) => {
      hinder = ({ headers }) => (headers.upgrade === 'websocket' ? 'pass' : fault);
      expect(await dial()).toBe('websocket');
      expect(upgrades).toEqual(['svc-mux/1', 'websocket']);
    },
  );

  it.each([401, 403, 404, 429, 503])('does not retry after a %s, and returns the response', async (status) => {
    hinder = () => status;
    await expect(dial()).rejects.toMatchObject({ status, body: 'because', retryAfterSeconds: 7 });
    expect(upgrades).toHaveLength(1);
  });

  it.each(['raw', 'websocket'] as const)('ends a %s upgrade without an answer by its code', async (prefer) => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo; // a TCP listener
    const url = new URL(`http://127.0.0.1:${port}/v1/mux`);
    await expect(dial({ url, prefer, timeoutMs: 20 })).rejects.toMatchObject({ cause: { code: 'ETIMEDOUT' } });
    silent.close();
  });

  it('starts with the WebSocket if asked to', async () => {
    expect(await dial({ prefer: 'websocket' })).toBe('websocket');
    expect(upgrades).toEqual(['websocket']);
  });

  it('reports an unreachable server without a second attempt', async () => {
    const url = new URL('http://127.0.0.1:1/');
    await expect(dial({ url })).rejects.toMatchObject({
      status: 0,
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
