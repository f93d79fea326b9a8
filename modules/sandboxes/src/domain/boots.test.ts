import { FairSlots, KeyedQueue, systemClock, type Clock } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { fakeClock } from '@svc/testing';
import { beforeEach, expect, it } from 'vitest';
import type { Archive } from './archives/archive.ts';
import { Boots } from './boots.ts';
import { ClusterDrivers } from './clusters/cluster-drivers.ts';
import type { SandboxContext } from './context.ts';
import type { SandboxDriver } from './driver.ts';
import type { HelperConnection } from './helper/helper-connection.ts';
import { LiveSandboxes } from './live-sandboxes.ts';
import type { Sandbox, SandboxChange } from './sandbox.ts';
import { StartPlaces } from './start-places.ts';
import { StatusWatch } from './status-watch.ts';
import { UnfinishedStops } from './unfinished-stops.ts';

const sandbox = {
  id: 'sbx-1',
  name: 'one',
  workspaceUuid: 'workspace',
  status: 'creating',
  startedAt: null,
  snapshotId: null,
  cluster: null,
  volumes: [],
  lastActivityAt: new Date().toISOString(),
} as Partial<Sandbox> as Sandbox; // the fields that a start reads

const slots = () => new FairSlots({ capacity: 1, maxWaiting: 1, refuse: () => new Error('full') });

let live: LiveSandboxes;
let isClosed: boolean;
let boots: Boots;
let queue: KeyedQueue;
let change: (changed: Sandbox) => Promise<Sandbox | null>;
let recorded: Sandbox | null;
let stops: number;
let driver: SandboxDriver;
let clock: Clock;
let isAllowed: boolean;
let archive: Pick<Archive, 'sizeBytes' | 'unpackedBytes'> | null;

beforeEach(() => {
  isClosed = false;
  archive = null;
  queue = new KeyedQueue();
  isAllowed = true;
  clock = systemClock;
  recorded = sandbox;
  stops = 0;
  live = new LiveSandboxes(
    () => undefined,
    () => undefined,
    () => undefined,
    () => 0,
  );
  const connection = {
    closed: new Promise<void>(() => undefined),
    close: async () => void (isClosed = true),
  } as unknown as HelperConnection; // what a start does with it
  driver = {
    isCreated: async () => false,
    create: async () => undefined,
    start: async () => undefined,
    stop: async () => void (stops += 1),
    connect: async () => connection,
  } as unknown as SandboxDriver; // what a start calls
  const drivers = new ClusterDrivers(driver, { epoch: () => 1 });
  drivers.connect('cls-1', { driver, epoch: 1, fingerprint: '', hasGvisor: false });
  const storage = {
    findFor: async () => archive,
    create: (_driver: unknown, _spec: unknown, _archive: unknown, signal: AbortSignal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
  };
  const given = {
    storage,
    repository: {
      find: async () => recorded,
      change: (_id: string, _from: unknown, to: SandboxChange) => change({ ...sandbox, ...to }),
    },
    driver,
    drivers,
    clusterChoice: { isAllowed: async () => isAllowed },
    live,
    watch: new StatusWatch(),
    queue,
    places: new StartPlaces({ here: slots(), inCluster: slots }),
    recovery: { wait: async () => false },
    rules: { prepare: async () => undefined, apply: async () => undefined },
    get clock() {
      return clock;
    },
    log: createLogger({ name: 'test', level: 'silent' }),
  } as unknown as SandboxContext; // what a start uses
  boots = new Boots(Object.assign(given, { stops: new UnfinishedStops(given) }));
});

it('has the connection of a sandbox before its record says that it runs', async () => {
  const found = new Promise<boolean>((resolve) => {
    change = async (changed) => {
      resolve(changed.status === 'running' && live.findConnection(sandbox.id) !== null);
      return changed;
    };
  });
  boots.begin(sandbox);
  expect(await found).toBe(true);
  await boots.close();
  expect([live.has(sandbox.id), boots.underWay]).toEqual([true, 0]);
});

it.each([
  ['was deleted meanwhile', async () => null],
  ['cannot be written', async () => Promise.reject(new Error('the database is away'))],
])('keeps no connection if the record %s', async (_what, refused) => {
  const ended = new Promise<void>((resolve) => {
    change = async (changed) => {
      if (changed.status !== 'running') return null;
      resolve();
      return refused();
    };
  });
  boots.begin(sandbox);
  await ended;
  await boots.close();
  expect([live.has(sandbox.id), isClosed]).toEqual([false, true]);
});

it('begins again after a result that was not recorded', async () => {
  change = async () => Promise.reject(new Error('the database is away'));
  boots.begin(sandbox);
  await expect.poll(() => boots.has(sandbox.id)).toBe(false);
  expect([live.has(sandbox.id), stops]).toEqual([false, 0]);
  change = async (changed) => changed;
  await boots.recover(sandbox.id);
  await expect.poll(() => live.has(sandbox.id)).toBe(true);
  expect(stops).toBe(1);
});

it.each([
  ['deleted', null],
  ['stopped', { ...sandbox, status: 'stopped' } satisfies Sandbox],
])('does not begin again what was %s meanwhile', async (_what, found) => {
  recorded = found;
  await boots.recover(sandbox.id);
  expect([boots.has(sandbox.id), stops]).toEqual([false, 0]);
});

it.each([
  ['deleted', null],
  ['stopped', { ...sandbox, status: 'stopped' } satisfies Sandbox],
  ['taken over by another node', { ...sandbox, node: 'other' } satisfies Sandbox],
])('does not start what was %s before its turn', async (_what, found) => {
  let starts = 0;
  driver.start = async () => void (starts += 1);
  const stopping = Promise.withResolvers<void>();
  driver.stop = () => stopping.promise;
  change = async () => null;
  const recovered = boots.recover(sandbox.id);
  const ended = queue.run(sandbox.id, async () => void (recorded = found));
  stopping.resolve();
  await Promise.all([recovered, ended]);
  await expect.poll(() => boots.has(sandbox.id)).toBe(false);
  expect([starts, live.has(sandbox.id)]).toEqual([0, false]);
});

it('stops a sandbox that was stopped while it started', async () => {
  change = async () => null;
  boots.begin(sandbox);
  await expect.poll(() => boots.has(sandbox.id)).toBe(false);
  expect([live.has(sandbox.id), stops]).toEqual([false, 1]);
});

it('starts a sandbox while another one waits for a node, and a cluster does not answer', async () => {
  change = async (changed) => changed;
  driver.create = async ({ id }, signal, place) => {
    const wait = () => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    if (id === 'sbx-without-a-node') await place?.leaveFor(wait);
    if (id === 'sbx-in-a-cluster') await wait();
  };
  const cluster = { id: 'cls-1', name: 'one' } as Sandbox['cluster']; // what a start reads
  boots.begin({ ...sandbox, id: 'sbx-without-a-node' });
  boots.begin({ ...sandbox, id: 'sbx-in-a-cluster', cluster });
  boots.begin(sandbox);
  await expect.poll(() => live.has(sandbox.id)).toBe(true);
  await boots.close();
});

it('runs nothing for a creator who has lost the right to the cluster during the transfer of the files', async () => {
  const changes: Sandbox[] = [];
  change = async (changed) => {
    changes.push(changed);
    return changed;
  };
  driver.create = async () => void (isAllowed = false);
  driver.start = async () => Promise.reject(new Error('it must not start'));
  const cluster = { id: 'cls-1', name: 'one' } as Sandbox['cluster']; // what a start reads
  boots.begin({ ...sandbox, cluster });
  expect(boots.ids).toEqual([sandbox.id]);
  await expect.poll(() => boots.has(sandbox.id)).toBe(false);
  expect(changes).toMatchObject([{ status: 'stopped', stateReason: 'CLUSTER_RIGHT_REVOKED', fault: null }]);
  expect([live.has(sandbox.id), stops, boots.ids]).toEqual([false, 1, []]);
});

it.each([
  ['the size of its files', { sizeBytes: 1, unpackedBytes: 1024 ** 3 }, 71],
  ['its disk, if that size is not known', { sizeBytes: 1, unpackedBytes: null }, 36],
  ['no more than four hours', { sizeBytes: 1, unpackedBytes: 60 * 1024 ** 3 }, 241],
])('gives a start from an archive in a cluster time by %s', async (_what, found, minutes) => {
  const fake = fakeClock();
  clock = fake;
  archive = found;
  change = async (changed) => changed;
  const cluster = { id: 'cls-1', name: 'one' } as Sandbox['cluster']; // what a start reads
  const resources = { diskMb: 512 } as Sandbox['resources']; // the same
  const lastActivityAt = fake.now().toISOString();
  boots.begin({ ...sandbox, cluster, resources, snapshotId: 'snp-1', lastActivityAt });
  await expect.poll(() => fake.pendingTimers()).toBe(1);
  await fake.advance((minutes - 1) * 60_000);
  expect(boots.has(sandbox.id)).toBe(true);
  await fake.advance(2 * 60_000);
  await expect.poll(() => boots.has(sandbox.id)).toBe(false);
});

it.each([
  ['after a wait for its turn', 'begin', 'running'],
  ['that was interrupted, if its time is over', 'continue', 'error'],
] as const)('counts the time of a start %s', async (_what, method, status) => {
  const fake = fakeClock();
  clock = fake;
  const ended = new Promise<string>((resolve) => {
    change = async (changed) => {
      resolve(changed.status);
      return changed;
    };
  });
  driver.start = async (_spec, signal) => {
    await fake.advance(1_000);
    signal.throwIfAborted();
  };
  const snapshot = Promise.withResolvers<void>();
  const taking = queue.run(sandbox.id, () => snapshot.promise);
  boots[method]({ ...sandbox, lastActivityAt: fake.now().toISOString() });
  await fake.advance(3_600_000);
  snapshot.resolve();
  await taking;
  expect(await ended).toBe(status);
  await boots.close();
});
