import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('sandbox isolation', () => {
  let driver: FakeDriver;
  let platform: TestPlatform;

  const create = (body: Record<string, unknown> = {}) =>
    platform.call('POST', '/api/containers?wait_ms=5000', { body: { image: 'busybox', ...body } });

  beforeEach(async () => {
    driver = new FakeDriver();
    platform = await startPlatform({ driver });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('does not start a stopped sandbox whose isolation is no longer allowed', async () => {
    const { body } = await create();
    await platform.call('POST', `/api/containers/${body['id']}/stop?wait_ms=5000`);
    driver.isolations.delete('namespaces');
    expect(await platform.call('POST', `/api/containers/${body['id']}/start`)).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED_ISOLATION' },
    });
    driver.isolations.add('namespaces');
    expect((await platform.call('POST', `/api/containers/${body['id']}/start?wait_ms=5000`)).body).toMatchObject({
      status: 'running',
    });
  });

  it('refuses an isolation that this machine does not support', async () => {
    expect(await create({ isolation: 'gvisor' })).toMatchObject({
      status: 400,
      body: {
        code: 'UNSUPPORTED_ISOLATION',
        message: 'Isolation gvisor is not available here: the fake driver has none',
        details: { field: 'isolation', isolation: 'gvisor' },
      },
    });
  });
});
