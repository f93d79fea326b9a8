import { migrations } from '@svc/migrations';
import { EventReader, describeDialects, fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

/** The clock stands still, so that no poll can deliver what an event must. */
describeDialects<unknown>('two replicas with a sandbox at the second', migrations, (database) => {
  const drivers: FakeDriver[] = [];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let id: string;

  beforeEach(async () => {
    const clock = fakeClock();
    const start = async (node: string, access?: TestPlatform['access']): Promise<TestPlatform> => {
      const driver = new FakeDriver();
      drivers.push(driver);
      return startPlatform({
        driver,
        node,
        nodes: { isLive: async () => true, silent: async () => [] },
        database: database(),
        ...(access === undefined ? {} : { access }),
        clock,
      });
    };
    asked = await start('node-1');
    holder = await start('node-2', asked.access);
    await waitFor(() => database().events.isListening);
    id = (await atHolder('POST', '', { image: 'busybox', name: 'one' })).body['id'];
  });
  afterEach(async () => {
    await atHolder('DELETE', `/${id}`);
    await holder.close();
    await asked.dispose();
    await holder.dispose();
    for (const driver of drivers.splice(0)) await driver.dispose();
  });

  const atHolder = (method: string, path: string, body?: unknown): Promise<Answer> =>
    holder.call(method, `/api/containers${path}`, { caller: asked.owner, ...(body === undefined ? {} : { body }) });

  it('answer wait_for when the sandbox reaches the state', async () => {
    const waiting = asked.call('GET', `/api/containers/${id}?wait_for=stopped&timeout=60`);
    await atHolder('POST', `/${id}/stop`);
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'stopped' } });
  });

  it('answer wait_for when the sandbox is deleted', async () => {
    const waiting = asked.call('GET', `/api/containers/${id}?wait_for=stopped&timeout=60`);
    await atHolder('DELETE', `/${id}`);
    expect((await waiting).status).toBe(404);
  });

  it('stream the events of the sandbox', async () => {
    const reader = await EventReader.open(`${asked.url}/api/containers/${id}/events`, asked.owner.headers);
    await atHolder('POST', `/${id}/stop`);
    await waitFor(() => reader.events.length === 1, { description: 'the event' });
    await atHolder('DELETE', `/${id}`);
    await waitFor(() => reader.ended, { description: 'the end of the stream' });
    expect(reader.events.map(({ event }) => event)).toEqual(['stopped', 'deleted']);
  });
});
