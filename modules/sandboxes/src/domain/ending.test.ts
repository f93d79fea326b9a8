import { KeyedQueue } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { Boots } from './boots.ts';
import { ClusterDrivers } from './clusters/cluster-drivers.ts';
import type { SandboxContext } from './context.ts';
import type { SandboxDriver } from './driver.ts';
import { stop, type StopRequest } from './ending.ts';
import type { Sandbox } from './sandbox.ts';
import { SnapshotTakes } from './snapshots/snapshot-takes.ts';
import { StatusWatch } from './status-watch.ts';
import { UnfinishedStops } from './unfinished-stops.ts';

const SANDBOX = {
  id: 'sbx-1',
  status: 'running',
  pausedAt: null,
  cluster: null,
  expiresAt: '2026-01-01T00:00:00.000Z',
} as Partial<Sandbox> as Sandbox; // the fields that a stop reads
const REQUEST: StopRequest = { reason: 'STOPPED_BY_USER', expiredAt: null };

describe('a stop during a snapshot', () => {
  let calls: string[];
  let found: () => Promise<Sandbox | null>;
  let change: () => Promise<Sandbox | null>;
  let context: SandboxContext;

  beforeEach(() => {
    calls = [];
    found = async () => SANDBOX;
    change = async () => SANDBOX;
    const driver = {
      stop: async () => void calls.push('stop'),
      resume: async () => void calls.push('resume'),
    } as unknown as SandboxDriver; // what a stop calls
    const given = {
      repository: { find: () => found(), change: () => change() },
      driver,
      drivers: new ClusterDrivers(driver, null),
      live: { release: async () => undefined },
      watch: new StatusWatch(),
      queue: new KeyedQueue(),
      takes: new SnapshotTakes(),
      log: createLogger({ name: 'test', level: 'silent' }),
    } as unknown as SandboxContext; // what a stop uses
    context = { ...given, stops: new UnfinishedStops(given) };
  });

  /** Holds the sandbox's lock until it is ended, and leaves it frozen. */
  const take = (): Promise<unknown> => {
    const ended = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const taking = context.takes.run(SANDBOX.id, (signal) => context.queue.run(SANDBOX.id, () => ended(signal)));
    return taking.catch((error: unknown) => error);
  };
  const stopNow = (request = REQUEST) => stop(context, new Boots(context), SANDBOX, request);

  it('ends it, and stops the sandbox in its turn', async () => {
    const taking = take();
    const next = context.queue.run(SANDBOX.id, async () => void calls.push('before'));
    await stopNow();
    await next;
    expect(await taking).toMatchObject({ code: 'SNAPSHOT_ENDED' });
    expect([calls, context.takes.has(SANDBOX.id)]).toEqual([['before', 'stop'], false]);
  });

  it.each([
    [
      'the database is away',
      { change: () => Promise.reject(new Error('away')), find: () => Promise.reject(new Error('away')) },
    ],
    ['its time was extended', { find: async () => ({ ...SANDBOX, expiresAt: '2027-01-01T00:00:00.000Z' }) }],
  ])('continues the sandbox if it is not stopped after all, because %s', async (_why, given) => {
    const taking = take();
    found = given.find;
    change = 'change' in given ? given.change : change;
    await stopNow({ ...REQUEST, expiredAt: SANDBOX.expiresAt }).catch(() => undefined);
    await taking;
    expect(calls).toEqual(['resume']);
  });

  it.each([
    ['deleted', null],
    ['paused', { ...SANDBOX, pausedAt: '2026-01-01T00:00:00.000Z' }],
  ])('continues nothing that was %s meanwhile', async (_what, now) => {
    const taking = take();
    found = async () => now;
    change = async () => null;
    await stopNow().catch(() => undefined);
    await taking;
    expect(calls).toEqual([]);
  });
});
