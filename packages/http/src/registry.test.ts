import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { temporaryFolder } from '@svc/testing';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { ImageSender } from './registry.ts';

/** Begins a download from an address, and ends it. */
async function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  const sent = get(url, { localAddress });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.destroy();
  return response.statusCode;
}

/** More than sockets and buffers hold, so that an unread download stays open. */
const SIZE_BYTES = 64 * 1024 * 1024;

it('limits concurrent downloads and starts the next when one ends', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'layer');
  await writeFile(file, Buffer.alloc(SIZE_BYTES));
  const sender = new ImageSender(6); // one address alone gets a third
  const app = Fastify();
  app.get('/', async (request, reply) => {
    const handle = await open(file);
    return sender.send(request, reply, { handle, offset: 0, sizeBytes: SIZE_BYTES }, 'application/octet-stream');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`; // a TCP listener
    const gone = new AbortController();
    const held = new AbortController();
    const fetchStatus = async (signal: AbortSignal): Promise<number> => (await fetch(url, { signal })).status;
    expect([await fetchStatus(gone.signal), await fetchStatus(held.signal)]).toEqual([200, 200]);
    const other = await statusFrom('127.0.1.1', url);
    expect(other).toBe(200);
    const refused = await fetch(url);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    await refused.body?.cancel();
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200); // takes no slot
    gone.abort();
    await expect.poll(() => fetchStatus(held.signal), { timeout: 60_000 }).toBe(200);
    held.abort();
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
});
