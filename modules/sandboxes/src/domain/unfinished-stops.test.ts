import { KeyedQueue } from '@svc/runtime';
import { beforeEach, expect, it } from 'vitest';
import { ClusterDrivers } from './clusters/cluster-drivers.ts';
import type { SandboxDriver } from './driver.ts';
import type { Sandbox } from './sandbox.ts';
import { UnfinishedStops } from './unfinished-stops.ts';

const SANDBOX = {
  id: 'sbx-1',
  workspaceUuid: 'workspace',
  status: 'stopped',
  node: 'a',
  fault: null,
  cluster: null,
} as Partial<Sandbox> as Sandbox; // the fields that a stop reads
const LOST = { code: 'CLUSTER_OFFLINE', message: 'The cluster cannot be reached', recoverable: true } as const;

let found: Sandbox | null;
let isFailing: boolean;
let calls: string[];
let stops: UnfinishedStops;

beforeEach(() => {
  found = SANDBOX;
  isFailing = false;
  calls = [];
  const driver = {
    stop: async (id: string, graceMs: number) => {
      if (isFailing) throw new Error('the API server is restarting');
      calls.push(`stop ${id} within ${graceMs} ms`);
    },
  } as unknown as SandboxDriver; // what a stop calls
  stops = new UnfinishedStops({
    repository: { find: async () => found },
    drivers: new ClusterDrivers(driver, null),
    live: { release: async (id: string) => void calls.push(`release ${id}`) },
    queue: new KeyedQueue(),
    node: 'a',
  });
});

it('repeats a stop that failed, without another grace', async () => {
  isFailing = true;
  await expect(stops.stop(SANDBOX, 10_000)).rejects.toThrow('restarting');
  await expect(stops.finish(SANDBOX)).rejects.toThrow('restarting');
  expect(stops.sandboxes).toEqual([{ id: 'sbx-1', workspaceUuid: 'workspace', cluster: null }]);
  isFailing = false;
  calls = [];
  await stops.finish(SANDBOX);
  await stops.finish(SANDBOX);
  expect([calls, stops.sandboxes]).toEqual([['release sbx-1', 'stop sbx-1 within 0 ms'], []]);
});

it('waits for the cluster of the sandbox', async () => {
  const cluster = { id: 'cls-1', name: 'home' } as Sandbox['cluster']; // what a stop reads
  found = { ...SANDBOX, cluster };
  stops.add(found);
  await stops.finish(SANDBOX);
  expect([calls, stops.has(SANDBOX.id)]).toEqual([[], true]);
});

it('stops a sandbox whose record changed without an answer', async () => {
  stops.add(SANDBOX);
  await stops.finish(SANDBOX);
  expect(calls).toContain('stop sbx-1 within 0 ms');
});

it.each([
  ['runs after all', { ...SANDBOX, status: 'running' }],
  ['starts again', { ...SANDBOX, status: 'creating' }],
  ['was deleted', null],
  ['is on another node now', { ...SANDBOX, node: 'b' }],
  ['may continue when its cluster returns', { ...SANDBOX, status: 'error', fault: LOST }],
] satisfies [string, Sandbox | null][])('leaves a sandbox alone that %s', async (_what, now) => {
  stops.add(SANDBOX);
  found = now;
  await stops.finish(SANDBOX);
  expect([calls, stops.has(SANDBOX.id)]).toEqual([[], false]);
});
