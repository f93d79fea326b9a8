import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { buffer } from 'node:stream/consumers';
import { selfSignedCertificate, waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createListener, type Listener, type ListenerOptions } from './listener.ts';

const opened: Listener[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
});

async function start(options: Partial<ListenerOptions> = {}): Promise<{ listener: Listener; port: number }> {
  const listener = createListener({ handler: (_request, response) => void response.end('ok'), ...options });
  opened.push(listener);
  return { listener, port: await listener.listen(0, '127.0.0.1') };
}

async function dial(port: number, text = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined); // several tests cut the connection
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Returns everything the server sends until it closes. */
async function said(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => undefined); // a reset also ends it
  return Buffer.concat(chunks).toString();
}

async function firstAnswer(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]; // sockets emit buffers
  return chunk.toString();
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A handler that holds its responses until the test sends them. */
function held(): {
  handler: ListenerOptions['handler'];
  next(): Promise<{ request: IncomingMessage; response: ServerResponse }>;
} {
  const waiting: { request: IncomingMessage; response: ServerResponse }[] = [];
  return {
    handler: (request, response) => void waiting.push({ request, response }),
    next: () => waitFor(() => waiting.shift()),
  };
}

describe('slow clients', () => {
  it('that do not finish their head are answered 408 and cut', async () => {
    const { port } = await start({ limits: { headersTimeoutMs: 200 } });
    const answer = await said(await dial(port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow'));
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toMatch(/\r\nx-request-id: req_/);
    expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it('that say nothing at all are cut', async () => {
    const { listener, port } = await start({ limits: { headersTimeoutMs: 200 } });
    await said(await dial(port));
    await waitFor(() => listener.connectionCount() === 0);
  });

  it('that never begin their TLS handshake are cut', async () => {
    const { listener, port } = await start({ tls: await selfSignedCertificate(), limits: { headersTimeoutMs: 200 } });
    await said(await dial(port));
    await waitFor(() => listener.connectionCount() === 0);
  });

  it('that stop in the middle of a body are cut, and the handler hears it', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler, limits: { idleTimeoutMs: 200 } });
    await dial(port, 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
    const { request } = await requests.next();
    await expect(buffer(request)).rejects.toThrow(/aborted|Premature close/);
    await waitFor(() => listener.connectionCount() === 0);
  });

  it.each([
    ['a byte', 'Content-Length: 1000000\r\n\r\n', '.'],
    ['a digit of the length of a chunk', 'Transfer-Encoding: chunked\r\n\r\n', '0'],
    ['a byte that was asked for', 'Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n', '.'],
  ])('that drip a body are cut, however regularly there comes %s', async (_what, headers, dripped) => {
    const requests = held();
    const limits = { minBodyBytesPerSecond: 1_000, bodyRateWindowMs: 100 };
    const { port } = await start({ handler: requests.handler, limits });
    const socket = await dial(port, `PUT / HTTP/1.1\r\nHost: a\r\n${headers}`);
    const dripping = setInterval(() => socket.write(dripped), 5);
    const { request } = await requests.next();
    await expect(buffer(request)).rejects.toThrow(/aborted|Premature close/);
    clearInterval(dripping);
  });

  it('are not taken for slow when it is our side that does not read', async () => {
    const requests = held();
    // Client and server share this process, so the window must be longer than any pause of a busy machine.
    const limits = { minBodyBytesPerSecond: 2, bodyRateWindowMs: 500 };
    const { listener, port } = await start({ handler: requests.handler, limits });
    const body = Buffer.alloc(4 * 1024 * 1024, 'x');
    const socket = await dial(port, `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    const { request, response } = await requests.next();
    // Many windows pass without a byte being read.
    let windows = 0;
    const counting = setInterval(() => (windows += 1), limits.bodyRateWindowMs);
    await waitFor(() => windows > 3);
    clearInterval(counting);
    expect(listener.connectionCount()).toBe(1);
    expect((await buffer(request)).length).toBe(body.length);
    response.end('ok');
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('that keep a connection without using it are closed', async () => {
    const { port } = await start({ limits: { keepAliveTimeoutMs: 100 } });
    const socket = await dial(port, GET);
    expect(await said(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('the number of connections', () => {
  it('is bounded: one more is closed at once, those that are open go on', async () => {
    const shares = { trustedProxies: ['127.0.0.1'] }; // a share would refuse the second one
    const { listener, port } = await start({ limits: { maxConnections: 2 }, shares });
    const [first, second] = [await dial(port), await dial(port)];
    expect(await said(await dial(port, GET))).toBe('');
    for (const socket of [first, second]) {
      socket.write(GET);
      expect(await firstAnswer(socket)).toMatch(/^HTTP\/1\.1 200 /);
    }
    expect(listener.connectionCount()).toBe(2);
  });
});

describe('closing', () => {
  it('accepts nobody, closes what is idle, lets a running request end, and then its connection too', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const silent = await dial(port);
    const busy = await dial(port, GET);
    const { response } = await requests.next();
    await waitFor(() => listener.connectionCount() === 2);
    const closed = listener.close(60_000);
    await said(silent);
    await waitFor(() => listener.connectionCount() === 1);
    await expect(dial(port)).rejects.toThrow('ECONNREFUSED');
    response.end('done');
    const answer = await said(busy);
    expect(answer).toContain('Connection: close');
    expect(answer).toMatch(/done$/);
    await closed;
    expect(listener.connectionCount()).toBe(0);
  });

  it('announces itself first: connections end with their next answer, and new ones are accepted', async () => {
    const { listener, port } = await start();
    const kept = await dial(port, GET);
    expect(await firstAnswer(kept)).toContain('Connection: keep-alive');
    listener.announceClose();
    const ended = said(kept);
    kept.write(GET);
    expect(await ended).toContain('Connection: close');
    expect(await said(await dial(port, GET))).toContain('Connection: close');
  });

  it('ends a connection whose answer had begun before, once it is out', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const socket = await dial(port, GET);
    const { response } = await requests.next();
    response.write('begun ');
    expect(await firstAnswer(socket)).toContain('begun');
    const closed = listener.close(60_000);
    response.end('and done');
    expect(await said(socket)).toContain('and done');
    await closed;
  });

  it('cuts at the deadline what does not end', async () => {
    const requests = held();
    const { listener, port } = await start({ handler: requests.handler });
    const socket = await dial(port, GET);
    await requests.next();
    const cut = said(socket);
    await listener.close(50);
    expect(await cut).toBe('');
    expect(listener.connectionCount()).toBe(0);
  });

  it('is not held up by a TLS client that never finished its handshake', async () => {
    const { listener, port } = await start({ tls: await selfSignedCertificate() });
    await dial(port);
    await waitFor(() => listener.connectionCount() === 1);
    await listener.close(60_000);
  });

  it('lets a request over TLS end, and closes idle TLS connections', async () => {
    const requests = held();
    const { listener, port } = await start({ tls: await selfSignedCertificate(), handler: requests.handler });
    const [busy, idle] = [0, 1].map(() => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }));
    if (busy === undefined || idle === undefined) throw new Error('two were made');
    await Promise.all([once(busy, 'secureConnect'), once(idle, 'secureConnect')]);
    busy.write(GET);
    const { response } = await requests.next();
    const closed = listener.close(60_000);
    await said(idle);
    response.end('done');
    expect(await said(busy)).toMatch(/done$/);
    await closed;
  });

  it('gives owners of upgraded sockets their chance, then cuts those that are still open', async () => {
    const upgraded: Socket[] = [];
    const { listener, port } = await start({
      onUpgrade: (_request, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
        upgraded.push(socket as Socket); // a plain listener upgrades TCP sockets
      },
      onClosing: () => void upgraded[0]?.end('goodbye'),
    });
    const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    const [polite, rude] = [await dial(port, upgrade), await dial(port, upgrade)];
    const endings = Promise.all([said(polite), said(rude)]);
    await waitFor(() => upgraded.length === 2);
    await listener.close(60_000);
    const [first, second] = await endings;
    expect(first).toMatch(/goodbye$/);
    expect(second).not.toContain('goodbye');
  });

  it('cuts at the deadline also when the owner of an upgraded socket hangs', async () => {
    const { listener, port } = await start({
      onUpgrade: (_request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
      onClosing: () => new Promise<void>(() => undefined),
    });
    const socket = await dial(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    const ended = said(socket);
    await waitFor(() => listener.connectionCount() === 1);
    await listener.close(50);
    await ended;
  });

  it('may be asked for twice, and before the listener was opened', async () => {
    const { listener } = await start();
    await Promise.all([listener.close(1_000), listener.close(1_000)]);
    await createListener({ handler: () => undefined }).close(1_000);
  });
});

describe('a port', () => {
  it('that is taken makes listen fail with the reason', async () => {
    const { port } = await start();
    const second = createListener({ handler: () => undefined });
    await expect(second.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await second.close(0);
  });
});
