import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createInternalNetwork, type InternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { Sandbox, Volume } from 'e2b';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describeDialects<unknown>('an E2B client of two replicas, with its sandbox at the second', migrations, (database) => {
  const drivers: FakeDriver[] = [];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let network: InternalNetwork;
  let sandbox: Sandbox;

  const optionsAt = (platform: TestPlatform) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: asked.owner.token,
    validateApiKey: false,
  });

  beforeEach(async () => {
    network = await createInternalNetwork();
    const start = (node: string, access?: TestPlatform['access']): Promise<TestPlatform> => {
      const driver = new FakeDriver();
      drivers.push(driver);
      const nodes = { isLive: async () => true, live: async () => ['node-1', 'node-2'], silent: async () => [] };
      return startPlatform({ driver, node, network, nodes, database: database(), ...(access && { access }) });
    };
    asked = await start('node-1');
    holder = await start('node-2', asked.access);
    sandbox = await Sandbox.create('busybox', optionsAt(holder));
  });
  afterEach(async () => {
    await sandbox.kill();
    await holder.close();
    await asked.dispose();
    await holder.dispose();
    for (const driver of drivers.splice(0)) await driver.dispose();
  });

  it('uses the sandbox at either one: control plane, data plane, and signed URLs', async () => {
    const there = await Sandbox.connect(sandbox.sandboxId, optionsAt(asked));
    expect(await there.isRunning()).toBe(true);
    expect(await there.files.exists('/etc/hostname')).toBe(true);
    expect(await there.pause()).toBe(true);
    expect(await sandbox.isRunning()).toBe(false);
    await there.connect();
    expect(await sandbox.isRunning()).toBe(true);
    const url = await there.downloadUrl('/etc/hostname');
    expect((await fetch(url)).status).toBe(200);
    const actions = ({ audit }: TestPlatform) => audit.entries.map(({ action }) => action);
    expect(actions(asked)).toEqual([]);
    expect(actions(holder)).toContain('sandbox:update');
  });

  it('uses the files of a volume at either one, with one token', async () => {
    const volume = await Volume.create('data', optionsAt(holder));
    const there = await Volume.connect(volume.volumeId, optionsAt(asked));
    expect(there.token).toBe(volume.token);
    const content = { apiUrl: `${asked.url}/e2b` };
    expect(await there.writeFile('/file', 'text', content)).toMatchObject({ path: '/file', type: 'file' });
    expect(await there.readFile('/file', content)).toBe('');
    expect(await there.list('/', content)).toEqual([]);
    const rest = await asked.call('GET', '/api/volumes/data/files/list?path=/');
    expect(rest).toMatchObject({ status: 200, body: { files: [] } });
    const [first, second] = drivers;
    expect([first?.volumeServers.size, second?.volumeServers.size]).toEqual([0, 1]);
    expect(await Volume.destroy(volume.volumeId, optionsAt(holder))).toBe(true);
    expect(second?.volumeServers.size).toBe(0);
  });

  it('reaches ports through either one, public or with the traffic token', async () => {
    const closed = await Sandbox.create('busybox', { ...optionsAt(holder), network: { allowPublicTraffic: false } });
    const ask = async (of: Sandbox, headers: Readonly<Record<string, string>> = {}) => {
      const host = `8080-${of.sandboxId}.sandboxes.localhost`;
      const asking = request({ host: '127.0.0.1', port: new URL(asked.url).port, headers: { ...headers, host } }).end();
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]; // Node.js event
      return (JSON.parse(await text(answer)) as { code: string }).code; // a flat error
    };
    // The driver of the test has no ports: the sandbox's node says so.
    expect(await ask(sandbox)).toBe('PORT_UNREACHABLE');
    expect(await ask(closed)).toBe('PORT_REFUSED');
    const token = closed.trafficAccessToken ?? '';
    expect(await ask(closed, { 'e2b-traffic-access-token': token })).toBe('PORT_UNREACHABLE');
    const byHeader = async (of: Sandbox, method: string) => {
      const headers = { 'e2b-sandbox-id': of.sandboxId, 'e2b-sandbox-port': '8080', 'e2b-traffic-access-token': token };
      const answer = await fetch(`${asked.url}/e2b/envd/execute?a=b`, {
        method,
        headers: { ...headers, 'x-access-token': 'of the data plane', cookie: 'session=secret' },
        ...(method === 'POST' && { body: 'print(1)' }),
      });
      return ((await answer.json()) as { code: string }).code; // a flat error
    };
    for (const method of ['GET', 'POST']) {
      expect(await byHeader(sandbox, method)).toBe('PORT_UNREACHABLE');
      expect(await byHeader(closed, method)).toBe('PORT_UNREACHABLE');
    }
    await closed.kill();
  });

  it('refuses what is not its own at the first one already', async () => {
    const stranger = { ...optionsAt(asked), apiKey: asked.access.user('stranger').token };
    await expect(Sandbox.connect(sandbox.sandboxId, stranger)).rejects.toThrow('not found');
    const headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': 'svc_sba_x' };
    expect((await fetch(`${asked.url}/e2b/envd/health`, { headers })).status).toBe(401);
  });
});
