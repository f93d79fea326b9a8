import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform } from './running-platform.ts';

const MAX_CONNECTIONS = 100;
/** A third of them, rounded up. */
const SHARE = 34;
const OPENED = 60;

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

async function startWith(name: string, trustedProxies: readonly string[]) {
  const config = join(folder.path, `${name}.yaml`);
  const values = { services: ['object-store'], max_connections: MAX_CONNECTIONS, trusted_proxies: trustedProxies };
  writeFileSync(config, JSON.stringify(values)); // JSON is YAML
  return startPlatform({ dataFolder: join(folder.path, name), flags: ['--config', config] });
}

/** Opens connections from one address and returns how many the listener keeps while another address is answered. */
async function keptOf(url: string, path: string): Promise<number> {
  const port = Number(new URL(url).port);
  const sockets = Array.from({ length: OPENED }, () => connect({ host: '127.0.0.1', port, localAddress: '127.0.0.1' }));
  let closed = 0;
  for (const socket of sockets) socket.on('error', () => undefined).on('close', () => (closed += 1));
  try {
    await Promise.all(sockets.map(opened));
    // An answer on the last one, or its end, shows that the listener has decided about all of them.
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await waitFor(() => sockets.every((socket) => socket.bytesRead > 0 || socket.destroyed));
    expect(await statusFrom('127.0.0.2', port, path)).toBeLessThan(500);
    return OPENED - closed;
  } finally {
    for (const socket of sockets) socket.destroy();
    await waitFor(() => closed === OPENED);
  }
}

function opened(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
}

function statusFrom(localAddress: string, port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, localAddress, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}

describe('the listeners of svc up', () => {
  it('close what one address opens beyond its share, and say so', async () => {
    await using platform = await startWith('shared', []);
    expect(await keptOf(platform.ready.url, '/healthz')).toBe(SHARE);
    expect(await keptOf(platform.ready.s3_endpoint, '/')).toBe(SHARE);
    expect(platform.log()).toContain('a connection was refused: add a proxy to trusted_proxies');
  });

  it('hold a trusted proxy to no share', async () => {
    await using platform = await startWith('trusted', ['127.0.0.1']);
    expect(await keptOf(platform.ready.url, '/healthz')).toBe(OPENED);
    expect(await keptOf(platform.ready.s3_endpoint, '/')).toBe(OPENED);
    expect(platform.log()).not.toContain('a connection was refused');
  });
});
