import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createMetrics } from '@svc/telemetry';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const PORT = 8080;
/** A third of the connections of a sandbox. */
const SHARE = 32;

const driver = new FakeDriver();
const metrics = createMetrics();
let platform: TestPlatform;

beforeAll(async () => {
  platform = await startPlatform({ driver, metrics: () => metrics });
});
afterAll(async () => {
  await platform.dispose();
  await driver.dispose();
});

it('leaves room at a public port for others than the address that opens connections without end', async () => {
  const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
  const id = String(created.body['id']);
  const path = `/api/containers/${id}/ports`;
  expect((await platform.call('PUT', path, { body: { public: true } })).status).toBe(200);
  const link = new URL(String((await platform.call('POST', path, { body: { port: PORT } })).body['url']));
  const host = `${PORT}-${id.slice('sbx_'.length)}.sandboxes.localhost`;
  const asked: ReturnType<typeof request>[] = [];
  const answers: string[] = [];
  const ask = (localAddress: string, target = '/'): void => {
    const { port } = new URL(platform.url);
    const each = request({ host: '127.0.0.1', port, path: target, headers: { host }, localAddress, agent: false });
    each.on('error', () => undefined); // the test ends it
    each.once('response', (response) => void text(response).then((body) => answers.push(body)));
    asked.push(each.end());
  };
  const open = async (): Promise<number> =>
    Number(/^svc_sandbox_previews_open (\d+)$/m.exec(await metrics.render())?.[1]);

  const helper = driver.sandboxes.get(id)?.helper;
  helper?.freeze(); // its program does not answer
  for (let count = 0; count < SHARE + 8; count += 1) ask('127.0.0.1');
  await waitFor(() => answers.length === 8);
  for (const each of answers) expect(JSON.parse(each)).toMatchObject({ code: 'PREVIEW_BUSY' });
  for (let count = 0; count < 8; count += 1) ask('127.0.1.1');
  for (let count = 0; count < 8; count += 1) ask('127.0.0.1', `/${link.search}`);
  await waitFor(async () => (await open()) === SHARE + 16);
  ask('127.0.0.1');
  await waitFor(() => answers.length === 9);
  expect(await open()).toBe(SHARE + 16);
  for (const each of asked) each.destroy();
  helper?.thaw();
  await waitFor(async () => (await open()) === 0);
});
