import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createMetrics } from '@svc/telemetry';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

async function openPorts(): Promise<{ id: string; host: string }> {
  const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
  const id = String(created.body['id']);
  expect((await platform.call('PUT', `/api/containers/${id}/ports`, { body: { public: true } })).status).toBe(200);
  return { id, host: `${PORT}-${id.slice('sbx_'.length)}.sandboxes.localhost` };
}

async function open(): Promise<number> {
  return Number(/^svc_sandbox_previews_open (\d+)$/m.exec(await metrics.render())?.[1]);
}

it('leaves room at a public port for others than the address that opens connections without end', async () => {
  const { id, host } = await openPorts();
  const made = await platform.call('POST', `/api/containers/${id}/ports`, { body: { port: PORT } });
  const link = new URL(String(made.body['url']));
  const asked: ReturnType<typeof request>[] = [];
  const answers: string[] = [];
  const ask = (localAddress: string, target = '/'): void => {
    const { port } = new URL(platform.url);
    const each = request({ host: '127.0.0.1', port, path: target, headers: { host }, localAddress, agent: false });
    each.on('error', () => undefined); // the test ends it
    each.once('response', (response) => void text(response).then((body) => answers.push(body)));
    asked.push(each.end());
  };
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

describe('a client that leaves before its connection reaches the port', () => {
  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  // A query decides whether a credential is the platform's own.
  it.each([
    ['a request', ''],
    ['a request with a credential', 'Authorization: Bearer other\r\n'],
    ['an upgrade', UPGRADE],
    ['an upgrade with a credential', `${UPGRADE}Authorization: Bearer other\r\n`],
  ])('holds no place: %s', async (_what, headers) => {
    const { id, host } = await openPorts();
    const helper = driver.sandboxes.get(id)?.helper;
    helper?.freeze();
    const clients = Array.from({ length: SHARE }, () => {
      const client = connect(Number(new URL(platform.url).port), '127.0.0.1');
      client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`);
      return client;
    });
    await waitFor(async () => (await open()) === SHARE);
    for (const client of clients.splice(0)) client.destroy();
    await waitFor(async () => (await open()) === 0); // while the helper does not answer
    helper?.thaw();

    for (let count = 0; count < SHARE; count += 1) {
      const client = connect(Number(new URL(platform.url).port), '127.0.0.1');
      await once(client, 'connect');
      client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`, () => client.resetAndDestroy());
    }
    await platform.call('GET', '/api/containers');
    await waitFor(async () => (await open()) === 0);
  });
});
