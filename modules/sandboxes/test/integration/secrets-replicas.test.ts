import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InjectingDriver } from '../support/injecting-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describeDialects<unknown>('secrets of a sandbox at another replica', migrations, (database) => {
  let drivers: InjectingDriver[];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let id: string;
  let clock: FakeClock;

  beforeEach(async () => {
    clock = fakeClock();
    drivers = [new InjectingDriver(), new InjectingDriver()];
    const network = await createInternalNetwork();
    const start = (index: 0 | 1, access?: TestPlatform['access']): Promise<TestPlatform> =>
      startPlatform({
        driver: drivers[index] ?? new InjectingDriver(),
        node: `node-${index}`,
        network,
        nodes: { isLive: async () => true, live: async () => ['node-0', 'node-1'], silent: async () => [] },
        database: database(),
        ...(access === undefined ? {} : { access }),
        clock,
      });
    asked = await start(0);
    holder = await start(1, asked.access);
    await asked.call('POST', '/api/secrets', { body: { name: 'KEY', value: 'first' } });
    const body = { image: 'busybox', network: 'egress' };
    id = (await holder.call('POST', '/api/sandboxes', { caller: asked.owner, body })).body['id'];
  });
  afterEach(async () => {
    await holder.call('DELETE', `/api/sandboxes/${id}`, { caller: asked.owner });
    await holder.close();
    await asked.call('DELETE', '/api/secrets/KEY');
    await asked.dispose();
    await holder.dispose();
    for (const driver of drivers) await driver.dispose();
  });

  it('are set by any replica, and follow within a second what another one changes', async () => {
    const rule = { host: 'api.example.com', header: 'x-key', secret: 'KEY' };
    const changed = await asked.call('PUT', `/api/sandboxes/${id}/egress/rules`, { body: { egress_rules: [rule] } });
    expect(changed).toMatchObject({ status: 200, body: { egress_rules: [{ secret: 'KEY' }] } });
    expect(drivers.map((driver) => driver.contents())).toEqual([undefined, ['first']]);
    await asked.call('PUT', '/api/secrets/KEY', { body: { value: 'second' } });
    await clock.advance(600);
    await expect.poll(() => drivers[1]?.contents()).toEqual(['second']);
    await asked.call('DELETE', '/api/secrets/KEY');
    await clock.advance(600);
    await expect.poll(() => drivers[1]?.contents()).toEqual([null]);
  });
});
