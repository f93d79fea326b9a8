import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { BlockMemory, type LendingStream } from '@svc/bytes';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlainConnections } from '../relay/plain-connections.ts';
import { endToEndHeaders } from '../relay/relay-headers.ts';
import { isPlain, relayPlain } from '../relay/relay-plain.ts';
import { relayRequest } from '../relay/relay-request.ts';
import { answerOf, dial, endAll, get, resetOf, start } from './testing/http2-peers.ts';

let backend: Server;
let port: number;
let answer: string;
let received: string;
let relay: (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const memory = new BlockMemory();

beforeEach(async () => {
  received = '';
  backend = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (received.endsWith('\r\n\r\n')) socket.end(answer);
    });
  });
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const to = { host: '127.0.0.1', port: (backend.address() as AddressInfo).port }; // a TCP listener
  const open = (): LendingStream => {
    const socket = connect(to);
    const lend = (take: (bytes: Buffer) => boolean): void => {
      socket.on('data', (bytes) => void take(bytes));
    };
    return Object.assign(socket, { memory, lend, lendMore: () => undefined });
  };
  const connections = new PlainConnections(open, 60_000);
  relay = (request, response) => {
    const target = { path: request.url ?? '/', headers: endToEndHeaders(request), timeoutMs: 30_000 };
    if (isPlain(request)) return relayPlain(request, response, { ...target, connections });
    return relayRequest(request, response, { ...target, agent: false, connection: to });
  };
  const front = await start({
    handler: (request, response) => {
      relay(request, response).catch(() => void response.writeHead(502).end());
    },
  });
  ({ port } = front);
});
afterEach(async () => {
  await endAll();
  await new Promise((done) => backend.close(done));
});

const HEAD = 'HTTP/1.1 201 Made By Hand\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: 1\r\nETag: 1\r\n';

it('relays a plain request to a server of HTTP/1, whose answer has headers that HTTP/2 forbids', async () => {
  answer = `${HEAD}Connection: close\r\nContent-Length: 4\r\n\r\nbody`;
  const { headers, body } = await get(await dial(port), '/a', { ':authority': 'svc.test', cookie: ['x=1', 'y=2'] });
  expect(received).toMatch(/^GET \/a HTTP\/1\.1\r\nhost: svc\.test\r\ncookie: x=1; y=2\r\n/);
  expect(headers).toMatchObject({ ':status': 201, 'set-cookie': ['a=1', 'b=2'] });
  expect(body).toBe('body');
});

it('relays a body without a length in chunks, and trailers in both directions', async () => {
  answer = `${HEAD}Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 4\r\n\r\n`;
  const stream = (await dial(port)).request({ ':method': 'POST', te: 'trailers' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'x-in': '1' }));
  stream.end('given');
  expect(await answerOf(stream)).toMatchObject({ body: 'body', trailers: { 'x-sum': '4' } });
  expect(received).toContain('Transfer-Encoding: chunked\r\n');
  expect(received).toMatch(/\r\n5\r\ngiven\r\n0\r\nx-in: 1\r\n\r\n$/);
});

it.each(['GET', 'POST'])('keeps trailers that HTTP/2 forbids from the answer to %s', async (method) => {
  const trailers = 'TE: gzip\r\nKeep-Alive: 1\r\nHost: a\r\nX-Sum: 4\r\nX-Sum: 5\r\n';
  answer = `${HEAD}Transfer-Encoding: chunked\r\nTrailer: TE\r\n\r\n4\r\nbody\r\n0\r\n${trailers}\r\n`;
  const stream = (await dial(port)).request({ ':method': method, 'content-length': '0', te: 'trailers' });
  stream.end();
  const given = await answerOf(stream);
  expect([given.body, Object.entries(given.trailers)]).toEqual(['body', [['x-sum', '4, 5']]]);
});

it.each(['000', '099 Low', '200 a\x01b'])('takes an answer with the status line %j for a failure', async (line) => {
  answer = `HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`;
  const client = await dial(port);
  for (const method of ['GET', 'POST']) {
    const stream = client.request({ ':method': method, 'content-length': '0' });
    stream.end();
    expect((await answerOf(stream)).headers[':status']).toBe(502);
  }
});

it.each(['GET', 'POST'])('passes on that the answer to %s is cut short', async (method) => {
  answer = `${HEAD}Content-Length: 1000\r\n\r\npart`;
  const stream = (await dial(port)).request({ ':method': method, 'content-length': '0' });
  stream.end();
  expect(await resetOf(stream)).not.toBe(0);
  await text(stream).catch(() => undefined);
});

it.each(['GET', 'POST'])('sends no %s for a client that has left', async (method) => {
  const began = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const front = await start({
    handler: (request, response) => {
      began.resolve();
      response.once('close', () => void relay(request, response).then(left.resolve, left.reject));
    },
  });
  const stream = (await dial(front.port)).request({ ':method': method });
  stream.on('error', () => undefined);
  await began.promise;
  stream.close(constants.NGHTTP2_CANCEL);
  await left.promise;
  expect(received).toBe('');
});

it.each(['GET', 'POST'])('ends with the client that reads the answer to %s, not with the server', async (method) => {
  answer = `${HEAD}Content-Length: 4\r\n\r\nbody`;
  let hasEnded = false;
  const front = await start({
    handler: (request, response) => void relay(request, response).finally(() => (hasEnded = true)),
  });
  const client = await dial(front.port, { settings: { initialWindowSize: 0 } });
  const stream = client.request({ ':method': method, 'content-length': '0' });
  stream.end();
  await once(stream, 'response');
  await new Promise((done) => void client.ping(done)); // the server has written what it may
  expect(hasEnded).toBe(false);
  client.settings({ initialWindowSize: 1000 });
  expect(await text(stream)).toBe('body');
  await waitFor(() => hasEnded);
});

it('frees the share of an upload that is answered before it ends', async () => {
  const refusing = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.pause().write('HTTP/1.1 413 Too Much\r\nContent-Length: 4\r\n\r\nfull'));
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const connection = { host: '127.0.0.1', port: (refusing.address() as AddressInfo).port }; // a TCP listener
  const front = await start({
    limits: { maxConnections: 6 }, // two for an address
    handler: (request, response) => {
      const target = { path: '/', headers: endToEndHeaders(request), timeoutMs: 30_000 };
      void relayRequest(request, response, { ...target, agent: false, connection });
    },
  });
  const client = await dial(front.port);
  const uploads = [0, 1].map(() => client.request({ ':method': 'POST', 'content-length': String(2 ** 22) }));
  for (const stream of uploads) stream.on('error', () => undefined).write(Buffer.alloc(2 ** 22));
  for (const stream of uploads) expect(await answerOf(stream)).toMatchObject({ body: 'full' });
  await waitFor(async () => {
    const again = client.request({ ':method': 'POST', 'content-length': '0' });
    again.end();
    return (await answerOf(again).catch(() => null))?.body === 'full';
  });
  refusing.close();
});
