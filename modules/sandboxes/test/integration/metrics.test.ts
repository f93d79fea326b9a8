import { createMetrics, type Metrics } from '@svc/telemetry';
import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('sandbox metrics', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;
  let metrics: Metrics;

  const makeMetrics = (): Metrics => (metrics = createMetrics());

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await startPlatform({
      driver,
      metrics: makeMetrics,
      clock,
    });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const create = async (): Promise<string> =>
    (await platform.call('POST', '/api/containers', { body: { image: 'busybox', resources: { memory_mb: 64 } } })).body[
      'id'
    ];
  const read = async (id: string, query = '') =>
    (await platform.call('GET', `/api/containers/${id}/metrics${query}`)).body;
  const reads = (cpuMicroseconds: number, memoryBytes: number) => {
    driver.reading = { cpuMicroseconds, memoryBytes, pids: 3, diskBytes: null, oomKills: 0 };
  };
  /** Sampling runs asynchronously to the clock. */
  const sampled = (id: string, count: number) => waitFor(async () => (await read(id))['samples'].length === count);

  it('measures a running sandbox and keeps samples across a restart', async () => {
    const id = await create();
    reads(1_000_000, 5_000_000);
    await clock.advance(10_000);
    await sampled(id, 1);
    reads(6_000_000, 6_000_000);
    await clock.advance(10_000);
    await sampled(id, 2);
    const limits = { memory_limit_bytes: 64 * 1024 * 1024, disk_limit_bytes: 2048 * 1024 * 1024 };
    const first = { cpu_cores: null, memory_bytes: 5_000_000, pids: 3, disk_bytes: null, ...limits };
    const second = { ...first, cpu_cores: 0.5, memory_bytes: 6_000_000 };
    const { samples, current } = await read(id);
    expect(samples).toEqual([
      { at: '2026-01-01T00:00:10.000Z', ...first },
      { at: '2026-01-01T00:00:20.000Z', ...second },
    ]);
    expect(current).toMatchObject({ memory_bytes: 6_000_000, cpu_cores: 0.5 });
    expect((await read(id, '?since=2026-01-01T00:00:10.000Z'))['samples']).toHaveLength(1);
    await platform.close();
    await platform.reopen();
    expect((await read(id))['samples']).toHaveLength(2);
  });

  it('returns nulls for a stopped sandbox, and keeps samples only for their retention', async () => {
    const id = await create();
    reads(1, 2);
    await clock.advance(10_000);
    await sampled(id, 1);
    await platform.call('POST', `/api/containers/${id}/stop`);
    expect((await read(id))['current']).toMatchObject({ cpu_cores: null, memory_bytes: null, pids: null });
    await clock.advance(7_300_000);
    await sampled(id, 0);
    expect((await read(id, '?since=2026-01-01T00:00:00.000Z'))['samples']).toEqual([]);
  });

  it('reports out-of-memory kills in a sandbox that keeps running', async () => {
    const id = await create();
    reads(1, 2);
    await clock.advance(10_000);
    await sampled(id, 1);
    driver.reading = { ...driver.reading, oomKills: 2 };
    await clock.advance(10_000);
    await sampled(id, 2);
    await clock.advance(100);
    await waitFor(async () => {
      const { events } = (await platform.call('GET', `/api/containers/${id}/events?format=json`)).body;
      return events[0].type === 'oom_killed' && events[0].details.killed === 2;
    });
  });

  it('aggregates for Prometheus without a label per sandbox', async () => {
    const ids = [await create(), await create()];
    reads(1_000_000, 5_000_000);
    await clock.advance(10_000);
    for (const id of ids) await sampled(id, 1);
    reads(2_000_000, 6_000_000);
    await clock.advance(10_000);
    for (const id of ids) await sampled(id, 2);
    const text = await metrics.render();
    expect(text).toContain('svc_sandboxes_memory_bytes 12000000');
    expect(text).toContain('svc_sandboxes_cpu_cores 0.2');
    expect(text).toContain('svc_sandboxes_processes 6');
    expect(text).not.toContain(ids[0]);
  });

  it('refuses an invalid instant', async () => {
    const id = await create();
    expect(await platform.call('GET', `/api/containers/${id}/metrics?since=yesterday`)).toMatchObject({
      status: 400,
      body: { details: { field: 'since' } },
    });
  });
});
