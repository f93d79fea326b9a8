import { expect, it } from 'vitest';
import type { SandboxEvent, SandboxEventType } from '../events/sandbox-event.ts';
import { planDeliveries } from './delivery-plan.ts';
import type { DeliveryState, WebhookDelivery } from './webhook.ts';

const event = (sequence: number, sandboxId: string, type: SandboxEventType = 'running'): SandboxEvent => ({
  workspaceUuid: 'w',
  sequence,
  sandboxId,
  type,
  at: '2026-01-01T00:00:00.000Z',
  details: {},
});

const attempts = (...given: readonly [number, DeliveryState, number?][]): Map<number, WebhookDelivery> =>
  new Map(
    given.map(([sequence, state, nextAttemptAtMs = 0]) => [
      sequence,
      {
        sequence,
        sandboxId: 'a',
        type: 'running',
        state,
        attempts: 1,
        nextAttemptAtMs,
        attemptedAt: '2026-01-01T00:00:00.000Z',
        status: null,
        error: null,
      },
    ]),
  );

const plan = (
  events: readonly SandboxEvent[],
  attempted = attempts(),
  types: readonly SandboxEventType[] | null = null,
) => {
  const { position, due, open } = planDeliveries({ events: types, position: 10 }, events, attempted, 1_000);
  return { position, due: due.map(({ sequence }) => sequence), open: open.map(({ sequence }) => sequence) };
};

it('passes over what is settled or not wanted, up to the first open event', () => {
  const events = [event(11, 'a'), event(12, 'b', 'paused'), event(13, 'a'), event(14, 'b', 'paused'), event(15, 'b')];
  expect(plan(events, attempts([11, 'delivered'], [15, 'dropped']), ['running'])).toEqual({
    position: 12,
    due: [13],
    open: [13],
  });
  expect(plan(events, attempts([11, 'delivered'], [13, 'delivered'], [15, 'dropped']), ['running']).position).toBe(15);
});

it('holds the events of a sandbox behind the one that is retried later, and no others', () => {
  const events = [event(11, 'a'), event(12, 'b'), event(13, 'a')];
  expect(plan(events, attempts([11, 'retrying', 1_001]))).toEqual({ position: 10, due: [12], open: [11, 12, 13] });
  expect(plan(events, attempts([11, 'retrying', 1_000])).due).toEqual([11, 12, 13]);
});
