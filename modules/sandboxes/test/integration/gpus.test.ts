import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('GPUs of sandboxes', () => {
  let driver: FakeDriver;
  let platform: TestPlatform;

  const create = (resources: Record<string, unknown>, caller = platform.owner) =>
    platform.call('POST', '/api/containers?wait_ms=5000', { body: { image: 'busybox', resources }, caller });

  beforeEach(async () => {
    driver = new FakeDriver();
    platform = await startPlatform({ driver });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('are refused by name if the driver has none', async () => {
    expect(await create({ gpus: 1 })).toMatchObject({
      status: 400,
      body: { code: 'GPUS_UNAVAILABLE', details: { field: 'resources.gpus', driver: 'fake' } },
    });
    expect((await create({ gpus: 0 })).body['resources']).not.toHaveProperty('gpus');
  });

  it('reach the driver, stay with the sandbox, and go to its forks', async () => {
    driver.hasGpus = true;
    const specs: unknown[] = [];
    driver.beforeCreate = async ({ resources }) => void specs.push(resources.gpus);
    const { body } = await create({ gpus: 2 });
    expect(body).toMatchObject({ status: 'running', resources: { gpus: 2 } });
    const path = `/api/containers/${body['id']}`;
    expect((await platform.call('GET', path)).body['resources']).toEqual(body['resources']);
    const fork = await platform.call('POST', `${path}/fork?wait_ms=5000`, { body: { count: 1 } });
    expect(fork.body['containers']).toMatchObject([{ resources: { gpus: 2 } }]);
    expect(specs).toEqual([2, 2]);
    expect((await platform.module.state('workspace')).missing_capabilities).not.toContain('gpus');
  });

  it('are refused to guests', async () => {
    driver.hasGpus = true;
    const guest = platform.access.guest();
    expect(await create({ gpus: 1 }, guest)).toMatchObject({ status: 403, body: { code: 'GPUS_OF_GUESTS' } });
    expect((await create({}, guest)).status).toBe(201);
  });

  it('have a maximum', async () => {
    driver.hasGpus = true;
    expect(await create({ gpus: 9 })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', details: { field: 'resources.gpus', reason: 'at most 8 is allowed' } },
    });
    expect((await create({ gpus: -1 })).status).toBe(400);
  });
});
