import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

const SLOW_MS = 200;

let driver: FakeDriver;
let platform: TestPlatform;
/** Sends requests as soon as the platform listens. */
let whenListening: (call: TestPlatform['call']) => void;

beforeEach(async () => {
  driver = new FakeDriver();
  whenListening = () => undefined;
  platform = await startPlatform({ driver, onListening: (call) => whenListening(call) });
});
afterEach(async () => {
  await platform.dispose();
  await driver.dispose();
});

/**
 * Starts the platform again, on a slow machine: its driver opens and lists what runs only after the request has arrived,
 * what it lists is from before, and copies take as long.
 */
async function answerDuringStart(send: (call: TestPlatform['call']) => Promise<Answer>): Promise<Answer> {
  await platform.close();
  const listening = Promise.withResolvers<Promise<Answer>>();
  whenListening = (call) => listening.resolve(send(call));
  const [open, list] = [driver.open.bind(driver), driver.list.bind(driver)];
  driver.open = async () => {
    await delay(SLOW_MS);
    return open();
  };
  driver.list = async () => {
    const found = await list();
    await delay(SLOW_MS);
    return found;
  };
  driver.beforeSnapshot = () => delay(2 * SLOW_MS);
  await platform.reopen();
  Object.assign(driver, { open, list });
  return listening.promise;
}

const running = async (fields: object = {}): Promise<string> => {
  const made = await platform.call('POST', '/api/containers', { body: { image: 'busybox', ...fields } });
  expect(made).toMatchObject({ status: 201, body: { status: 'running' } });
  return made.body['id'];
};

describe('a request that arrives before the platform has taken up what runs on its node', () => {
  it('forks a sandbox', async () => {
    const id = await running();
    const answer = await answerDuringStart((call) => call('POST', `/api/containers/${id}/fork`, { body: {} }));
    expect(answer).toMatchObject({ status: 201, body: { containers: [{ status: 'running' }] } });
  });

  it('takes a snapshot, which stays', async () => {
    const id = await running();
    const answer = await answerDuringStart((call) => call('POST', `/api/containers/${id}/snapshots`, { body: {} }));
    expect(answer.status).toBe(201);
    expect((await platform.call('GET', `/api/snapshots/${answer.body['id']}`)).status).toBe(200);
    expect([...driver.kept]).toEqual([answer.body['id']]);
  });

  it('lists the terminals of a sandbox that ran on', async () => {
    const id = await running();
    const answer = await answerDuringStart((call) => call('GET', `/api/containers/${id}/terminals`));
    expect(answer).toMatchObject({ status: 200, body: { count: 0 } });
  });

  it('creates a volume', async () => {
    driver.beforeVolumeChange = () => delay(2 * SLOW_MS);
    const answer = await answerDuringStart((call) => call('POST', '/api/volumes', { body: { name: 'data' } }));
    expect(answer.status).toBe(201);
    expect((await platform.call('GET', '/api/volumes/data')).status).toBe(200);
  });
});
