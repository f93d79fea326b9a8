import { systemRandom } from '@svc/runtime';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SandboxEvent } from '../events/sandbox-event.ts';
import { WebhookDispatcher, type WebhookDispatcherOptions } from './webhook-dispatcher.ts';

const AT = new Date(0).toISOString();
const EVENTS = 1000;

/** Webhooks named `owner-workspace-number`. Each has events of a thousand sandboxes, which never become fewer. */
function startDispatcher(ids: readonly string[], send: (id: string) => Promise<void>) {
  const clock = fakeClock();
  const workspaceOf = (id: string): string => id.slice(0, id.lastIndexOf('-'));
  const delivered = new Map(ids.map((id) => [id, 0]));
  const page = Array.from({ length: EVENTS }, (_, index): SandboxEvent => {
    const sandboxId = `sbx_${index}`;
    return { sequence: index + 1, workspaceUuid: 'any', sandboxId, type: 'created', details: {}, at: AT };
  });
  const repository = {
    waiting: async (after: string, limit: number) =>
      ids
        .filter((id) => id > after)
        .slice(0, limit)
        .map((id) => ({ id, workspaceUuid: workspaceOf(id) })),
    takeLease: async () => true,
    releaseLeases: async () => undefined,
    get: async (id: string) => {
      return { id, workspaceUuid: workspaceOf(id), enabled: true, position: 0, types: null, failingSinceMs: null };
    },
    attempted: async () => [],
    record: async (id: string) => void delivered.set(id, (delivered.get(id) ?? 0) + 1),
    advance: async () => undefined,
  };
  // What the dispatcher needs of them here.
  const options = {
    repository,
    events: { after: async () => page, newest: async () => EVENTS, oldest: async () => 1 },
    service: {
      sendEvent: async ({ id }: { id: string }) => {
        await send(id);
        return { status: 200, error: null };
      },
    },
    quotaLimits: {
      readLimits: async () => undefined,
      shareOf: (workspaceUuid: string) => workspaceUuid.split('-')[0] ?? '',
    },
    config: { retry_seconds: 5, give_up_seconds: 300, disable_after_seconds: 900 },
    clock,
    random: systemRandom,
    log: createLogger({ level: 'error', name: 'test' }),
    metrics: createMetrics(),
    holder: 'node',
  } as unknown as WebhookDispatcherOptions;
  const dispatcher = new WebhookDispatcher(options);
  dispatcher.start();
  const run = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds * 2; step += 1) {
      await clock.advance(500);
      await new Promise((done) => void setImmediate(done));
    }
  };
  const close = async (): Promise<void> => {
    let isClosed = false;
    void dispatcher.close().then(() => (isClosed = true));
    await waitFor(async () => {
      await run(1);
      return isClosed;
    });
  };
  const slowly = (): Promise<void> => new Promise((done) => void clock.setTimer(done, 3000));
  return { run, close, slowly, countOf: (id: string) => delivered.get(id) ?? 0 };
}

const busy = Array.from({ length: 60 }, (_, index) => `busy-${index % 4}-${String(index).padStart(2, '0')}`).toSorted();

it('serves the webhooks of other owners while the receivers of one do not answer', async () => {
  const held = Promise.withResolvers<void>();
  const begun = new Set<string>();
  const { run, close, countOf } = startDispatcher([...busy, 'other-0-00'], async (id) => {
    begun.add(id);
    if (id.startsWith('busy')) await held.promise;
  });
  await run(10);
  expect(countOf('other-0-00')).toBeGreaterThan(0);
  expect(begun.size).toBe(24 + 1); // the lanes of an owner, and the other one
  held.resolve();
  await close();
});

it('gives every webhook of an owner its turns, however slow the receivers and long the backlogs are', async () => {
  const { run, close, slowly, countOf } = startDispatcher(busy, () => slowly());
  await run(120);
  const counts = busy.map(countOf);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(Math.max(...counts)).toBeLessThan(4 * Math.min(...counts));
  await close();
});

it('gives turns to the webhooks that found no place among those that wait', async () => {
  const many = Array.from({ length: 3000 }, (_, index) => {
    return `busy-${index % 150}-${String(index).padStart(4, '0')}`;
  }).toSorted();
  const begun = new Set<string>();
  const dispatching = startDispatcher(many, async (id) => {
    begun.add(id);
    await dispatching.slowly();
  });
  await dispatching.run(1200);
  expect(begun.size).toBe(many.length);
  await dispatching.close();
}, 60_000);
