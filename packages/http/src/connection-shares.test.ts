import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { selfSignedCertificate, waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { RefusedConnection } from './connection-shares.ts';
import { createListener, type Listener, type ListenerOptions } from './listener.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const opened: Listener[] = [];
const sockets: Socket[] = [];
const refused: RefusedConnection[] = [];

afterEach(async () => {
  refused.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
});

async function start(
  maxConnections: number,
  options: Partial<ListenerOptions> = {},
): Promise<Listener & { port: number }> {
  const listener = createListener({
    handler: (_request, response) => void response.end('ok'),
    limits: { maxConnections },
    ...options,
    shares: { onRefused: (each) => void refused.push(each), ...options.shares },
  });
  opened.push(listener);
  return { ...listener, port: await listener.listen(0, '127.0.0.1') };
}

/** Connects from an address of this machine. All of 127.0.0.0/8 is. */
async function dial(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined); // some are cut
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Whether a request on a new connection is answered. */
async function isServed(port: number, localAddress: string): Promise<boolean> {
  const socket = await dial(port, localAddress);
  socket.write(GET);
  const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  return Buffer.isBuffer(chunk);
}

/** Connects until one connection is refused. Returns how many were served. */
async function takeAll(port: number, localAddress: string): Promise<number> {
  for (let count = 0; ; count += 1) if (!(await isServed(port, localAddress))) return count;
}

describe('the connections of a listener', () => {
  it('are shared: an address gets a third, its network half, and the next one finds room', async () => {
    const { port } = await start(12);
    expect(await takeAll(port, '127.0.1.1')).toBe(4);
    expect(await takeAll(port, '127.0.1.2')).toBe(2);
    expect(await takeAll(port, '127.0.1.3')).toBe(0);
    expect(refused).toEqual([
      { remoteAddress: '127.0.1.1', holder: 'address', held: 4, limit: 12 },
      { remoteAddress: '127.0.1.2', holder: 'network', held: 6, limit: 12 },
      { remoteAddress: '127.0.1.3', holder: 'network', held: 6, limit: 12 },
    ]);
    expect(await isServed(port, '127.0.2.1')).toBe(true);
  });

  it('return to their share when they end', async () => {
    const listener = await start(3);
    const held = await dial(listener.port, '127.0.1.1');
    expect(await isServed(listener.port, '127.0.1.1')).toBe(false);
    held.destroy();
    await waitFor(() => listener.connectionCount() === 0);
    expect(await isServed(listener.port, '127.0.1.1')).toBe(true);
  });

  it('of a trusted proxy have no share, but count', async () => {
    const { port } = await start(12, { shares: { trustedProxies: ['127.0.9.0/24'] } });
    for (let count = 0; count < 9; count += 1) expect(await isServed(port, '127.0.9.1')).toBe(true);
    expect(await takeAll(port, '127.0.1.1')).toBe(1);
    expect(await isServed(port, '127.0.9.1')).toBe(true);
  });

  it('are counted with TLS before the handshake', async () => {
    const { port } = await start(3, { tls: await selfSignedCertificate() });
    await dial(port, '127.0.1.1');
    const second = await dial(port, '127.0.1.1');
    await once(second, 'close');
    const other = connectTls({ socket: await dial(port, '127.0.2.1'), rejectUnauthorized: false });
    other.on('error', () => undefined);
    await once(other, 'secureConnect');
    other.write(GET);
    expect(String((await once(other, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('need a share only for the handshake where that shows who the client is', async () => {
    const tls = await selfSignedCertificate();
    const { port } = await start(100, { tls, shares: { maxHandshakes: 3 } });
    const silent = await dial(port, '127.0.1.1');
    await once(await dial(port, '127.0.1.1'), 'close');
    silent.destroy();
    for (let count = 0; count < 5; count += 1) {
      const secured = connectTls({ socket: await dial(port, '127.0.2.1'), rejectUnauthorized: false });
      secured.on('error', () => undefined);
      await once(secured, 'secureConnect');
      secured.write(GET);
      expect(String((await once(secured, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});
