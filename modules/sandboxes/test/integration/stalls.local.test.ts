import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'clients of a real sandbox that fall silent';
/** Exceeds all buffers on the way. */
const LARGE_BYTES = 48 * 1024 * 1024;

/**
 * Whether the platform still holds its end of a connection from this port. A client that reads nothing is not notified
 * of a close.
 */
async function isEstablished(fromPort: number): Promise<boolean> {
  const peer = `0100007F:${fromPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const ends = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return ends.some(([, , remote, state]) => remote === peer && state === '01');
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  let stalling = false;
  const sockets: Socket[] = [];

  const send = async (method: string, path: string, headers: Record<string, string>): Promise<Socket> => {
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined); // `close` follows
    await once(socket, 'connect');
    const all = { host: 'localhost', ...platform.owner.headers, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    socket.write(`${method} /api/sandboxes/${id}${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    return socket;
  };
  const namesIn = async (path: string): Promise<string[]> => {
    const { status, body } = await platform.call('GET', `/api/sandboxes/${id}/files/list?path=${path}`);
    expect(status).toBe(200);
    return (body['files'] as { name: string }[]).map(({ name }) => name);
  };

  beforeAll(async () => {
    // Only the silent clients below face the short limits; the setup may take its time.
    const limits = () =>
      stalling ? { idleTimeoutMs: 10_000, bodyRateWindowMs: 2_000, minBodyBytesPerSecond: 1_000 } : {};
    platform = await startPlatform({ prepare: 'busybox', limits });
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'busybox' } });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
    const made = `mkdir -p /srv/up; head -c ${LARGE_BYTES} /dev/zero > /srv/large; echo kept > /srv/up/kept`;
    await platform.call('POST', `/api/sandboxes/${id}/exec`, { body: { command: made } });
    await platform.close();
    stalling = true;
    await platform.reopen();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    stalling = false;
    await platform.close();
    await platform.reopen();
    await platform.dispose();
  });

  it.each([
    ['a file', 'POST', '/files?path=/srv/up/kept', Buffer.alloc(100_000)],
    ['an archive', 'PUT', '/files/archive?path=/srv/up', Buffer.alloc(512)],
  ])('aborts a stalled upload of %s and leaves nothing of it behind', async (_what, method, path, first) => {
    const socket = await send(method, path, {
      'content-type': 'application/octet-stream',
      'content-length': String(LARGE_BYTES),
    });
    socket.resume();
    const closed = once(socket, 'close');
    socket.write(first);
    await closed;
    await expect.poll(() => namesIn('/srv/up'), { timeout: 60_000 }).toEqual(['kept']);
    const { body } = await platform.call('GET', `/api/sandboxes/${id}/files?path=/srv/up/kept&format=json`);
    expect(Buffer.from(body['content'], 'base64').toString()).toBe('kept\n');
  });

  it('aborts a download that is not read, and serves others', async () => {
    const socket = await send('GET', '/files?path=/srv/large', {});
    let receivedBytes = 0;
    socket.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
    await once(socket, 'data');
    socket.pause();
    const from = socket.localPort ?? 0;
    await expect.poll(() => isEstablished(from), { timeout: 60_000 }).toBe(false);
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    expect(receivedBytes).toBeLessThan(LARGE_BYTES);
    const answer = await fetch(`${platform.url}/api/sandboxes/${id}/files?path=/srv/large`, platform.owner);
    expect((await answer.arrayBuffer()).byteLength).toBe(LARGE_BYTES);
  });
});
