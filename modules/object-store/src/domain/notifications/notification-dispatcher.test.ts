import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import type { Destination, StoredEvent, WaitingDestination } from '../ports/notifications.ts';
import { NotificationDispatcher, type DispatcherOptions } from './notification-dispatcher.ts';

const EVENT: StoredEvent = {
  name: 'ObjectCreated:Put',
  timeMs: 0,
  versionId: null,
  sizeBytes: 0,
  etag: '',
  origin: { principal: '', requestId: '', sourceAddress: '' },
};

interface Starting {
  /** By bucket: its workspace, named `owner-workspace`. Each bucket has one rule. */
  readonly workspaces: readonly string[];
  readonly send: (bucketId: number) => Promise<void>;
  readonly isLeased?: boolean;
}

/** Each bucket has events of more keys than a batch, which never become fewer. */
function startDispatcher({ workspaces, send, isLeased = true }: Starting) {
  const clock = fakeClock();
  const delivered = workspaces.map(() => 0);
  const waiting = workspaces.map((workspaceUuid, bucketId): WaitingDestination => {
    return { bucketId, destination: 'all', workspaceUuid };
  });
  let events = 0;
  const read = new Set<string>();
  const metadata = {
    forgetFailedNotifications: async () => 0,
    waitingDestinations: async ({ after, limit }: { after: Destination | null; limit: number }) =>
      waiting.filter(({ bucketId }) => bucketId > (after?.bucketId ?? -1)).slice(0, limit),
    takeLease: async () => isLeased,
    releaseLease: async () => undefined,
    findBucketById: async ({ bucketId }: { bucketId: number }) => {
      return { id: bucketId, name: `bucket-${bucketId}`, workspaceUuid: workspaces[bucketId] };
    },
    dueNotifications: async ({ bucketId, destination, limit }: Destination & { limit: number }) =>
      Array.from({ length: limit }, () => {
        events += 1;
        return { id: events, bucketId, destination, key: `key-${events}`, event: EVENT, createdAtMs: 0, attempts: 0 };
      }),
    forgetNotifications: async () => undefined,
    forgetDestination: async () => 0,
  };
  const rule = { id: 'all', enabled: true, webhook: 'https://example.com/', events: [], prefix: '', suffix: '' };
  const stopping = new AbortController();
  // What the dispatcher needs of them here.
  const options = {
    deps: {
      metadata,
      clock,
      quotaLimits: {
        readLimits: async (workspaceUuid: string) => void read.add(workspaceUuid),
        shareOf: (workspaceUuid: string) =>
          read.has(workspaceUuid) ? (workspaceUuid.split('-')[0] ?? '') : workspaceUuid,
      },
      config: { regions: ['auto'], notifications: { keep_failed_days: 7 } },
      log: createLogger({ level: 'error', name: 'test' }),
    },
    configurations: { of: async () => ({ parsed: () => ({ rules: [rule] }) }) },
    notifications: {
      deliver: async ({ id }: { id: number }) => {
        await send(id);
        delivered[id] = (delivered[id] ?? 0) + 1;
      },
    },
    metrics: createMetrics(),
    holder: 'replica',
  } as unknown as DispatcherOptions;
  let isClosed = false;
  const running = new NotificationDispatcher(options).run(stopping.signal).then(() => (isClosed = true));
  const run = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds * 2; step += 1) {
      await clock.advance(500);
      await new Promise((done) => void setImmediate(done));
    }
  };
  const close = async (): Promise<void> => {
    stopping.abort();
    await waitFor(async () => {
      await run(1);
      return isClosed;
    });
    await running;
  };
  const pause = (ms: number): Promise<void> => new Promise((done) => void clock.setTimer(done, ms));
  return { run, close, pause, delivered, rule };
}

const busyWorkspace = Array.from({ length: 60 }, () => 'busy-0');

it('delivers to other workspaces while the receivers of one do not answer', async () => {
  const held = Promise.withResolvers<void>();
  const begun = new Set<number>();
  const dispatching = startDispatcher({
    workspaces: [...busyWorkspace, 'busy-1', 'other-0'],
    send: async (bucketId) => {
      begun.add(bucketId);
      await (bucketId < busyWorkspace.length ? held.promise : dispatching.pause(100));
    },
  });
  await dispatching.run(10);
  expect(dispatching.delivered.slice(-2).every((count) => count > 0)).toBe(true);
  expect(begun.size).toBe(16 + 2); // the lanes of a workspace, and the other ones
  held.resolve();
  await dispatching.close();
});

it('keeps lanes from an owner of several workspaces, also right after a start', async () => {
  const held = Promise.withResolvers<void>();
  const begun = new Set<number>();
  const dispatching = startDispatcher({
    workspaces: [...busyWorkspace, ...busyWorkspace.map(() => 'busy-1')],
    send: async (bucketId) => {
      begun.add(bucketId);
      await held.promise;
    },
  });
  await dispatching.run(10);
  expect(begun.size).toBe(24); // the lanes of an owner
  held.resolve();
  await dispatching.close();
});

it('gives every bucket of a workspace its turns, however slow the receivers and long the backlogs are', async () => {
  const dispatching = startDispatcher({ workspaces: busyWorkspace, send: () => dispatching.pause(3_000) });
  await dispatching.run(120);
  const { delivered } = dispatching;
  expect(Math.min(...delivered)).toBeGreaterThan(0);
  expect(Math.max(...delivered)).toBeLessThan(4 * Math.min(...delivered));
  await dispatching.close();
});

it('gives turns to the buckets that found no place among those that wait', async () => {
  const workspaces = Array.from({ length: 800 }, () => 'busy-0'); // more than the share of a workspace
  const dispatching = startDispatcher({ workspaces, send: () => dispatching.pause(3_000) });
  await dispatching.run(400);
  expect(dispatching.delivered.filter((count) => count === 0)).toEqual([]);
  await dispatching.close();
});

it('stops in the middle of a pass when the rule is disabled', async () => {
  const dispatching = startDispatcher({ workspaces: ['one-0'], send: () => dispatching.pause(500) });
  await dispatching.run(3);
  dispatching.rule.enabled = false;
  await dispatching.run(1); // what was under way
  const [before = 0] = dispatching.delivered;
  await dispatching.run(3);
  expect(before).toBeGreaterThan(0);
  expect(dispatching.delivered).toEqual([before]);
  await dispatching.close();
});

it('delivers nothing while another replica has the lease', async () => {
  const { run, close, delivered } = startDispatcher({
    workspaces: ['one-0', 'two-0'],
    send: async () => undefined,
    isLeased: false,
  });
  await run(10);
  expect(delivered).toEqual([0, 0]);
  await close();
});
