import { createLogger } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SandboxStats } from '../driver.ts';
import { MetricSampler } from './metric-sampler.ts';

const EVERY_MS = 10_000;
const STATS: SandboxStats = { cpuMicroseconds: 1, memoryBytes: 1, pids: 1, diskBytes: null, oomKills: null };

it('measures what else there is while a cluster does not answer', async () => {
  const clock = fakeClock();
  const stalled = Promise.withResolvers<void>();
  const measured: string[] = [];
  const clusters: Record<string, string> = { stalled: 'cls-1', 'in a cluster': 'cls-2' };
  const sampler = new MetricSampler({
    stats: async (id) => {
      if (id === 'stalled') await stalled.promise;
      return STATS;
    },
    store: {
      append: async (samples) => void measured.push(...samples.map(({ sandboxId }) => sandboxId)),
      since: async () => [],
      prune: async () => undefined,
    },
    clock,
    log: createLogger({ name: 'test', level: 'silent' }),
    running: () => ['stalled', 'in a cluster', 'here'],
    clusterOf: (id) => clusters[id] ?? null,
    everyMs: EVERY_MS,
    keptMs: 1,
    outOfMemory: () => undefined,
  });
  sampler.start();
  const twice = (id: string): boolean => measured.filter((each) => each === id).length >= 2;
  await waitFor(async () => {
    await clock.advance(EVERY_MS);
    return twice('here') && twice('in a cluster');
  });
  expect(measured).not.toContain('stalled');
  stalled.resolve();
  await sampler.close();
  expect(measured).toContain('stalled');
});
