import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImagePoolFigures } from '../../src/domain/image-pool.ts';
import type { SandboxSpec } from '../../src/domain/driver.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const IMAGE = { name: 'tools', aliases: ['tools-2'], sources: [{ kind: 'busybox' as const }] };

describe('the warm pool', () => {
  let driver: FakeDriver & { adjust?: (spec: SandboxSpec) => Promise<void> };
  let clock: FakeClock;
  let platform: TestPlatform;
  let adjusted: SandboxSpec[];

  const open = async (pool: { min?: number; max?: number } = {}): Promise<void> => {
    const warm_pool = [{ image: 'tools-2', min: 2, max: 2, ...pool }];
    platform = await startPlatform({
      driver,
      config: { warm_pool, images: [IMAGE], max_per_caller: 5 },
      clock,
    });
  };
  const figures = async (): Promise<ImagePoolFigures> => {
    const {
      warm_pool: [first],
    } = await platform.module.state('workspace');
    if (first === undefined) throw new Error('there is no pool');
    return first;
  };
  const filled = async (count: number): Promise<void> => {
    await waitFor(async () => {
      await clock.advance(50);
      return (await figures()).ready === count;
    });
  };
  const create = (body: Record<string, unknown> = {}) =>
    platform.call('POST', '/api/sandboxes', { body: { image: 'tools', ...body } });

  beforeEach(() => {
    clock = fakeClock();
    adjusted = [];
    driver = new FakeDriver();
    driver.adjust = async (spec) => void adjusted.push(spec);
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('hands out a sandbox with its existing id, by any alias of its image', async () => {
    await open();
    await filled(2);
    const waiting = [...driver.sandboxes.keys()];
    const created = await create({ environment: { A: '1' }, labels: { team: 'red' } });
    expect(created).toMatchObject({
      status: 201,
      body: { status: 'running', image: 'tools', labels: { team: 'red' } },
    });
    expect(waiting).toContain(created.body['id']);
    expect(adjusted).toEqual([]);
    expect(await figures()).toMatchObject({ hits: 1, misses: 0 });
    await filled(2);
    expect((await platform.call('GET', `/api/sandboxes/${created.body['id']}`)).body).toEqual(created.body);
    const { events } = (await platform.call('GET', `/api/sandboxes/${created.body['id']}/events?format=json`)).body;
    expect(events.map(({ type }: { type: string }) => type).toSorted()).toEqual(['created', 'running']);
  });

  it('adjusts name and limits to the request', async () => {
    await open();
    await filled(2);
    const created = await create({ name: 'Mine', resources: { memory_mb: 128, cpu: 2 } });
    expect(created).toMatchObject({ status: 201, body: { name: 'Mine', status: 'running' } });
    expect(adjusted).toMatchObject([
      { id: created.body['id'], hostname: 'mine', resources: { memoryMb: 128, cpuMillis: 2000, diskMb: 2048 } },
    ]);
  });

  it('restarts a sandbox that cannot be adjusted, under the same id', async () => {
    await open();
    await filled(2);
    driver.adjust = () => Promise.reject(new Error('no'));
    const created = await create({ name: 'mine' });
    expect(created).toMatchObject({ status: 201, body: { status: 'running' } });
    expect(driver.sandboxes.get(created.body['id'])?.helper).not.toBeNull();
  });

  it('renames a restarted sandbox, whose files have its previous hostname', async () => {
    await open();
    await filled(2);
    driver.adjust = async () => {
      driver.adjust = async (spec) => void adjusted.push(spec);
      throw new Error('the launcher was killed');
    };
    expect((await create({ name: 'mine' })).body).toMatchObject({ status: 'running', name: 'mine' });
    expect(adjusted).toMatchObject([{ hostname: 'mine' }]);
  });

  it.each([
    ['another disk', { resources: { disk_mb: 64 } }],
    ['no network', { network: 'none' }],
    ['another image', { image: 'busybox' }],
  ])('creates a new sandbox for a request that needs %s', async (_what, body) => {
    await open();
    await filled(2);
    const waiting = [...driver.sandboxes.keys()];
    const created = await create(body);
    expect(created.status).toBe(201);
    expect(waiting).not.toContain(created.body['id']);
  });

  it('creates a new sandbox if the driver cannot adjust one and something differs', async () => {
    delete driver.adjust;
    await open();
    await filled(2);
    const waiting = [...driver.sandboxes.keys()];
    expect(waiting).not.toContain((await create({ name: 'mine' })).body['id']);
    expect(waiting).toContain((await create()).body['id']);
  });

  it('keeps a sandbox that a refused create would have taken', async () => {
    await open();
    await create({ name: 'mine' });
    await filled(2);
    const waiting = [...driver.sandboxes.keys()];
    expect((await create({ name: 'mine' })).status).toBe(409);
    expect((await figures()).ready).toBe(2);
    expect([...driver.sandboxes.keys()]).toEqual(waiting);
  });

  it('never hands out a sandbox twice, even for concurrent creates', async () => {
    await open();
    await filled(2);
    const created = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(created.map(({ body }) => body['id'])).size).toBe(5);
  });

  it('replaces a sandbox that died while it waited', async () => {
    await open();
    await filled(2);
    const [first = ''] = driver.sandboxes.keys();
    await driver.crash(first);
    await waitFor(() => !driver.sandboxes.has(first));
    await filled(2);
  });

  it('grows with demand, up to its limit, and shrinks again', async () => {
    await open({ min: 1, max: 3 });
    await filled(1);
    for (let round = 0; round < 5; round += 1) await create();
    await waitFor(async () => {
      await clock.advance(100);
      return (await figures()).ready > 1;
    });
    expect((await figures()).target).toBeLessThanOrEqual(3);
    for (let second = 0; second < 120; second += 1) await clock.advance(1000);
    await filled(2); // the margin for bursts
    expect((await figures()).target).toBeLessThanOrEqual(2);
  });

  it('is emptied on shutdown; leftovers of a crash are removed at the next start', async () => {
    await open();
    await filled(2);
    const used = (await create()).body['id'];
    await filled(2);
    await platform.close();
    expect([...driver.sandboxes.keys()]).toEqual([used]);
    await driver.create({ id: `sbx_${'a'.repeat(26)}` } as SandboxSpec, new AbortController().signal);
    await platform.reopen();
    expect(driver.sandboxes.has(`sbx_${'a'.repeat(26)}`)).toBe(false);
    expect((await platform.call('GET', `/api/sandboxes/${used}`)).body['status']).toBe('running');
  });

  it('is off by default', async () => {
    platform = await startPlatform({ driver });
    expect((await platform.module.state('workspace')).warm_pool).toEqual([]);
    expect(driver.sandboxes.size).toBe(0);
  });
});
