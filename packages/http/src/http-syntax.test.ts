import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fakeAccess, fakeAudit, waitFor } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import type { HttpApp } from './http-app.ts';
import { createListener, type Listener } from './listener.ts';

let app: HttpApp;
let listener: Listener;
let port: number;
let bodies: string[];
let lines: string[];
const caller = fakeAccess().user('nobody');

beforeEach(async () => {
  bodies = [];
  lines = [];
  const access = fakeAccess();
  app = await createHttpApp({
    log: createLogger({ level: 'debug', name: 'test', destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics(),
    access,
    audit: fakeAudit(),
    version: 'test',
    bodyTimeoutMs: 300,
  });
  app.get('/hello', { config: { public: true } }, async () => ({ hello: 'you' }));
  app.get('/number/:n', { config: { public: true } }, async (request) => request.url);
  app.post('/echo', { config: { public: true }, schema: { body: Type.Object({}) } }, async (request) => {
    bodies.push(JSON.stringify(request.body));
    return request.body;
  });
  app.post('/guarded', { config: { action: 'thing:create' } }, async () => ({}));
  await app.ready();
  listener = createListener({ handler: app.routing });
  port = await listener.listen(0, '127.0.0.1');
});

afterEach(async () => {
  await listener.close(0);
  await app.close();
});

async function dial(request: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

/** Sends the bytes, half-closes the socket and returns the whole response. */
async function send(request: string): Promise<string> {
  const socket = await dial(request);
  socket.end();
  return text(socket);
}

describe('requests that two readers could understand differently', () => {
  it.each([
    ['two lengths', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}\n'],
    ['two equal lengths', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'chunks that are not last',
      'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}'],
    ['a space before the colon', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 2\r\n\r\n{}'],
    ['a folded header', 'GET /hello HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n'],
    ['lines without a carriage return', 'GET /hello HTTP/1.1\nHost: a\n\n'],
    ['a null byte in a header', 'GET /hello HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n'],
    ['no host', 'GET /hello HTTP/1.1\r\n\r\n'],
    [
      'a chunk size that is no number',
      'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n{}\r\n0\r\n\r\n',
    ],
  ])('are refused: %s', async (_what, request) => {
    const answer = await send(request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(bodies).toEqual([]);
  });

  it('are refused in our shape, with a request id, and the connection is closed', async () => {
    const answer = await send('BROKEN\r\n\r\n');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/\r\nconnection: close/);
    const id = /x-request-id: (req_[0-9a-f]{24})/.exec(head)?.[1];
    expect(JSON.parse(body)).toMatchObject({ code: 'INVALID_REQUEST', status: 400, request_id: id });
  });

  it('are refused when their head is too large', async () => {
    const answer = await send(`GET /hello HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(40_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"HEADERS_TOO_LARGE"');
  });
});

describe('HTTP as it is spoken', () => {
  it('answers HTTP/1.0 and closes', async () => {
    const socket = await dial('GET /hello HTTP/1.0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    expect(answer).toMatch(/\{"hello":"you"\}$/);
    socket.destroy();
  });

  it('answers pipelined requests in their order', async () => {
    const requests = [1, 2, 3].map((n) => `GET /number/${n} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const answer = await send(requests.join(''));
    expect([...answer.matchAll(/\/number\/\d/g)].map(([path]) => path)).toEqual([
      '/number/1',
      '/number/2',
      '/number/3',
    ]);
  });

  it('answers a pipelined request beside one that is malformed after it', async () => {
    const answer = await send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\nBROKEN\r\n\r\n');
    expect(answer).toMatch(/HTTP\/1\.1 (200|400) /);
    expect(answer.match(/"hello"/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  it('answers HEAD with the length of the body that it does not send', async () => {
    const answer = await send('HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer).toMatch(/\r\ncontent-length: 15\r\n/i);
    expect(answer.endsWith('\r\n\r\n')).toBe(true);
  });

  it('takes an offer of HTTP/2 for what it is: an ordinary request', async () => {
    await listener.close(0);
    listener = createListener({ handler: app.routing, onUpgrade: (_request, socket) => void socket.destroy() });
    port = await listener.listen(0, '127.0.0.1');
    const answer = await send('GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('a body', () => {
  const expecting = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n`;

  it('is asked for only when the request is not refused', async () => {
    const socket = await dial(expecting('/guarded'));
    const [chunk] = (await once(socket, 'data')) as [Buffer]; // sockets emit buffers
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('is asked for when somebody is to read it', async () => {
    const socket = await dial(expecting('/echo'));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.end('{"a":1}');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{"a":1\}$/);
  });

  it('of a refused upload is not read to its end: the connection is closed', async () => {
    const socket = await dial('POST /guarded HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    socket.destroy();
  });

  it('of JSON that takes too long cuts the connection', async () => {
    const socket = await dial(
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{',
    );
    expect(await text(socket)).not.toContain(' 200 ');
    socket.destroy();
  });

  it('whose client leaves is no fault of ours', async () => {
    const socket = await dial(
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{',
    );
    await waitFor(() => listener.connectionCount() === 1);
    socket.resetAndDestroy();
    await waitFor(() => lines.some((line) => line.includes('the client disconnected before its request was complete')));
    expect(lines.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
  });

  it('belongs to a caller that is known by more than one header only once', async () => {
    const { authorization } = caller.headers;
    const twice = `GET /guarded HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nAuthorization: ${authorization}\r\n\r\n`;
    expect(await send(twice)).not.toMatch(/ 200 /);
  });
});
