import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';

const MESSAGE = 'Building the image from Debian packages (host).';

describe('creating a sandbox', () => {
  let server: Server;
  let looks: number;
  beforeEach(async () => {
    looks = 0;
    server = createServer((request, response) => {
      looks += 1;
      const status = looks < 4 ? 'creating' : 'running';
      const image_progress = looks < 3 ? { stage: 'building', message: MESSAGE } : null;
      response
        .writeHead(request.method === 'POST' ? 202 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ id: 'sbx_a', name: 'a', status, image_progress }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('reports progress until the sandbox runs', async () => {
    const { port } = server.address() as AddressInfo; // a TCP address is never a string
    const svc = createClient({ baseUrl: `http://127.0.0.1:${port}`, credential: { kind: 'none' } });
    const told: (string | undefined)[] = [];
    const onProgress = (info: { image_progress: { message: string } | null }) =>
      told.push(info.image_progress?.message);
    const sandbox = await svc.sandboxes.create({ image: 'debian' }, { onProgress });
    expect(sandbox.status).toBe('running');
    expect(told[0]).toBe(MESSAGE);
    expect(told.length).toBeGreaterThan(1);
  });
});
