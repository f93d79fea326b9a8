import { systemRandom } from '@svc/runtime';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SandboxEvent } from '../events/sandbox-event.ts';
import { WebhookDispatcher, type WebhookDispatcherOptions } from './webhook-dispatcher.ts';

const AT = new Date(0).toISOString();

/** Dispatches one event of several sandboxes to each webhook, named `owner-workspace-number`. */
function startDispatcher(ids: readonly string[], send: (id: string, event: SandboxEvent) => Promise<unknown>) {
  const clock = fakeClock();
  const workspaceOf = (id: string): string => id.slice(0, id.lastIndexOf('-'));
  const recorded = new Map<string, object[]>(ids.map((id) => [id, []]));
  const page = Array.from({ length: 20 }, (_, index) => {
    return { sequence: index + 1, sandboxId: `sbx_${index}`, type: 'created', details: {}, at: AT };
  });
  const repository = {
    waiting: async (after: string, limit: number) =>
      ids
        .filter((id) => id > after && (recorded.get(id)?.length ?? 0) < page.length)
        .slice(0, limit)
        .map((id) => ({ id, workspaceUuid: workspaceOf(id) })),
    takeLease: async () => true,
    releaseLeases: async () => undefined,
    get: async (id: string) => {
      return { id, workspaceUuid: workspaceOf(id), enabled: true, position: 0, types: null, failingSinceMs: null };
    },
    attempted: async (id: string) => recorded.get(id) ?? [],
    record: async (id: string, deliveries: object[]) => void recorded.get(id)?.push(...deliveries),
    advance: async () => undefined,
  };
  // What the dispatcher needs of them here.
  const options = {
    repository,
    events: { after: async () => page, newest: async () => page.length, oldest: async () => 1 },
    service: {
      sendEvent: async ({ id }: { id: string }, event: SandboxEvent) => {
        await send(id, event);
        return { status: 200, error: null };
      },
    },
    quotaLimits: { shareOf: (workspaceUuid: string) => workspaceUuid.split('-')[0] ?? '' },
    config: { retry_seconds: 5, give_up_seconds: 300, disable_after_seconds: 900 },
    clock,
    random: systemRandom,
    log: createLogger({ level: 'error', name: 'test' }),
    metrics: createMetrics(),
    holder: 'node',
  } as unknown as WebhookDispatcherOptions;
  const dispatcher = new WebhookDispatcher(options);
  dispatcher.start();
  return { dispatcher, clock, countOf: (id: string) => recorded.get(id)?.length ?? 0 };
}

const busy = Array.from({ length: 60 }, (_, index) => `busy-${index % 4}-${String(index).padStart(2, '0')}`).toSorted();

it('delivers to others while the receivers of one owner take their time', async () => {
  const held = Promise.withResolvers<void>();
  const begun = new Set<string>();
  const { dispatcher, clock, countOf } = startDispatcher([...busy, 'other-0-00'], async (id) => {
    begun.add(id);
    if (id.startsWith('busy')) await held.promise;
  });
  await waitFor(async () => {
    await clock.advance(500);
    return countOf('other-0-00') === 20;
  });
  expect(begun.size).toBeGreaterThan(8);
  expect(begun.size).toBeLessThan(20); // half of all, and the other one
  held.resolve();
  await dispatcher.close();
});

it('lets others have the place of a slow receiver after a while', async () => {
  const begun = new Set<string>();
  const { dispatcher, clock, countOf } = startDispatcher(busy, async (id) => {
    begun.add(id);
    await new Promise<void>((done) => void clock.setTimer(done, 3000));
  });
  await waitFor(async () => {
    await clock.advance(500);
    return begun.size === busy.length;
  });
  expect(Math.min(...busy.map(countOf))).toBeLessThan(20);
  let isClosed = false;
  void dispatcher.close().then(() => (isClosed = true));
  await waitFor(async () => {
    await clock.advance(1000);
    return isClosed;
  });
});
