import type { SandboxEvent } from '../events/sandbox-event.ts';
import type { SandboxWebhook, WebhookDelivery } from './webhook.ts';

export interface DeliveryPlan {
  /** Every event up to this one is settled. */
  readonly position: number;
  /** Events to attempt now, oldest first. */
  readonly due: readonly SandboxEvent[];
  /** Wanted events that are not settled, those of `due` among them. */
  readonly open: readonly SandboxEvent[];
}

/**
 * Decides what to attempt of the events after the webhook's position. An event waits for the one before it of the same
 * sandbox, so that a receiver sees each sandbox's events in order.
 */
export function planDeliveries(
  webhook: Pick<SandboxWebhook, 'events' | 'position'>,
  events: readonly SandboxEvent[],
  attempted: ReadonlyMap<number, WebhookDelivery>,
  nowMs: number,
): DeliveryPlan {
  const open: SandboxEvent[] = [];
  const due: SandboxEvent[] = [];
  const held = new Set<string>();
  let { position } = webhook;
  for (const event of events) {
    const delivery = attempted.get(event.sequence);
    const isSettled = delivery !== undefined && delivery.state !== 'retrying';
    if (isSettled || webhook.events?.includes(event.type) === false) {
      if (open.length === 0) position = event.sequence;
      continue;
    }
    open.push(event);
    if ((delivery?.nextAttemptAtMs ?? 0) > nowMs) held.add(event.sandboxId);
    if (!held.has(event.sandboxId)) due.push(event);
  }
  return { position, due, open };
}
