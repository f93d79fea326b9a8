import { BackgroundLoop } from '@svc/runtime';
import type { QuotaLimits } from '@svc/quotas';
import {
  DeliveryTurns,
  retryDelayMs,
  type DeliveryOutcome,
  type DeliveryPass,
  type WaitingReceiver,
} from '@svc/webhooks';
import type { Logger, Metrics } from '@svc/telemetry';
import type { EventLog } from '../events/event-log.ts';
import type { SandboxEvent } from '../events/sandbox-event.ts';
import { planDeliveries, type DeliveryPlan } from './delivery-plan.ts';
import type { SandboxWebhook, WebhookDelivery } from './webhook.ts';
import type { Attempt, WebhookService, WebhookServiceDeps } from './webhook-service.ts';

const POLL_MS = 500;
/** Longer than a delivery can take, so that two replicas never call one receiver at the same time. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** Events after the position that are looked at; those behind them wait for an older one. */
const WINDOW = 1_000;
/** Deliveries kept in the log of a webhook. */
const KEPT_DELIVERIES = 1_000;

export interface WebhookSettingsOfOperator {
  readonly retry_seconds: number;
  readonly give_up_seconds: number;
  readonly disable_after_seconds: number;
}

export interface WebhookDispatcherOptions extends Pick<WebhookServiceDeps, 'repository' | 'clock' | 'random'> {
  readonly quotaLimits: Pick<QuotaLimits, 'readLimits' | 'shareOf'>;
  readonly events: EventLog;
  readonly service: WebhookService;
  readonly config: WebhookSettingsOfOperator;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Unique among the processes that share the database. */
  readonly holder: string;
}

/**
 * Delivers the events of the log to webhooks. The log is the queue, so that every event whose change is stored is sent
 * at least once, whatever is killed. One process at a time serves a webhook, under a lease, and webhooks take turns.
 */
export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions;
  readonly #count: (outcome: 'delivered' | 'failed' | 'dropped', count?: number) => void;
  readonly #turns: DeliveryTurns<WaitingReceiver>;
  readonly #leases = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #loop: BackgroundLoop;

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    const { clock, log, metrics, quotaLimits, repository } = options;
    this.#turns = new DeliveryTurns<WaitingReceiver>({
      waiting: (after, limit) => repository.waiting(after?.id ?? '', limit),
      serve: ({ id }, pass) => this.#serve(id, pass),
      owners: quotaLimits,
      onError: (err, { id }) => log.error({ err, webhook: id }, 'delivering events failed'),
      clock,
    });
    const outcomes = metrics.counter(
      'svc_sandboxes_webhook_deliveries_total',
      'Delivery attempts of sandbox webhooks by outcome: delivered, failed (retried later), dropped',
      ['outcome'],
    );
    this.#count = (outcome, count = 1) => outcomes.inc({ outcome }, count);
    this.#loop = new BackgroundLoop({
      run: () => this.#poll(),
      intervalMs: POLL_MS,
      onError: (err) => log.error({ err }, 'looking for events to deliver failed'),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Ends deliveries under way, which are repeated, and lets other replicas deliver. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.close();
    await this.#turns.settle();
    await this.#options.repository.releaseLeases(this.#options.holder).catch((err: unknown) => {
      this.#options.log.error({ err }, 'giving leases of webhooks back failed');
    });
  }

  async #poll(): Promise<void> {
    await this.#turns.admit(this.#stopping.signal);
    const nowMs = this.#options.clock.nowMs();
    for (const [id, untilMs] of this.#leases) if (untilMs < nowMs) this.#leases.delete(id);
  }

  /** Delivers what is due of one window, until the pass is over. */
  async #serve(id: string, pass: DeliveryPass): Promise<void> {
    const { repository, events: log, clock } = this.#options;
    if (!(await this.#keepLease(id))) return;
    const webhook = await repository.get(id);
    if (webhook?.enabled !== true) return;
    const position = await this.#skipPruned(webhook);
    const page = await log.after({ workspaceUuid: webhook.workspaceUuid, sandboxId: null }, position, WINDOW);
    const look = async (): Promise<{ plan: DeliveryPlan; attempted: ReadonlyMap<number, WebhookDelivery> }> => {
      const known = await repository.attempted(id, position, WINDOW);
      const attempted = new Map(known.map((delivery) => [delivery.sequence, delivery]));
      return { plan: planDeliveries({ ...webhook, position }, page, attempted, clock.nowMs()), attempted };
    };
    const { plan, attempted } = await look();
    const outcome = await pass.deliver(
      plan.due,
      ({ sandboxId }) => sandboxId,
      (event) => this.#deliver(webhook, event, attempted.get(event.sequence)?.attempts ?? 0),
    );
    if (outcome === 'failed') await this.#drop(webhook, plan.open);
    const after = plan.due.length > 0 ? (await look()).plan : plan;
    if (after.position > position) await repository.advance(id, after.position, 0, KEPT_DELIVERIES);
  }

  /** `stopped`: this process closes, or the webhook has changed since the pass began. */
  async #deliver(webhook: SandboxWebhook, event: SandboxEvent, attempts: number): Promise<DeliveryOutcome> {
    const { repository, service, clock } = this.#options;
    const { signal } = this.#stopping;
    if (!(await this.#keepLease(webhook.id))) return 'stopped';
    const current = await repository.get(webhook.id);
    if (current?.enabled !== true || current.updatedAt !== webhook.updatedAt) return 'stopped';
    const attempt = await service.sendEvent(current, event, signal);
    if (attempt.error !== null && signal.aborted) return 'stopped';
    const attemptedAt = clock.now().toISOString();
    const { sequence, sandboxId, type } = event;
    const base = { sequence, sandboxId, type, attempts: attempts + 1, attemptedAt, ...attempt };
    if (attempt.error !== null) {
      await this.#failed(current, event, { ...base, state: 'retrying', nextAttemptAtMs: 0 });
      return 'failed';
    }
    const recovers = current.failingSinceMs !== null ? { failingSinceMs: null, lastError: null } : undefined;
    await repository.record(webhook.id, [{ ...base, state: 'delivered', nextAttemptAtMs: 0 }], recovers);
    this.#count('delivered');
    return 'delivered';
  }

  async #failed(webhook: SandboxWebhook, event: SandboxEvent, delivery: WebhookDelivery & Attempt): Promise<void> {
    const { repository, clock, random, config, log } = this.#options;
    const { id } = webhook;
    const nowMs = clock.nowMs();
    this.#count('failed');
    const attempts = delivery.attempts - 1;
    const retryMs = retryDelayMs({ attempts, firstMs: config.retry_seconds * 1_000, random: random.bytes });
    const failingSinceMs = webhook.failingSinceMs ?? nowMs;
    const state = this.#isTooOld(event) ? ('dropped' as const) : ('retrying' as const);
    const nextAttemptAtMs = state === 'retrying' ? nowMs + retryMs : 0;
    await repository.record(id, [{ ...delivery, state, nextAttemptAtMs }], {
      failingSinceMs,
      lastError: delivery.error,
    });
    if (state === 'dropped') this.#count('dropped');
    if (nowMs - failingSinceMs < config.disable_after_seconds * 1_000) return;
    const reason = `every delivery failed since ${new Date(failingSinceMs).toISOString()}, at last: ${delivery.error}`;
    await repository.disable(id, reason, clock.now().toISOString());
    log.warn({ webhook: id, reason }, 'a webhook was disabled');
  }

  /** Drops what is too old, while the receiver fails. */
  async #drop(webhook: SandboxWebhook, open: readonly SandboxEvent[]): Promise<void> {
    const { repository, clock } = this.#options;
    const known = await repository.attempted(webhook.id, webhook.position, WINDOW);
    const attempted = new Map(known.map((delivery) => [delivery.sequence, delivery]));
    const attemptedAt = clock.now().toISOString();
    const dropped = open.flatMap((event): WebhookDelivery[] => {
      const before = attempted.get(event.sequence);
      if (!this.#isTooOld(event) || (before !== undefined && before.state !== 'retrying')) return [];
      const { sequence, sandboxId, type } = event;
      const last = before ?? { attempts: 0, attemptedAt, status: null, error: 'too old; the receiver was failing' };
      return [{ ...last, sequence, sandboxId, type, state: 'dropped', nextAttemptAtMs: 0 }];
    });
    if (dropped.length === 0) return;
    await repository.record(webhook.id, dropped);
    this.#count('dropped', dropped.length);
  }

  #isTooOld({ at }: SandboxEvent): boolean {
    return this.#options.clock.nowMs() - Date.parse(at) >= this.#options.config.give_up_seconds * 1_000;
  }

  /** Passes over events that are no longer stored, and counts them. Returns the position. */
  async #skipPruned(webhook: SandboxWebhook): Promise<number> {
    const { events: log, repository } = this.#options;
    const { id, workspaceUuid, position } = webhook;
    const newest = await log.newest(workspaceUuid); // read first, so that an event stored meanwhile is not passed over
    const oldest = await log.oldest(workspaceUuid);
    const before = oldest === null ? newest : oldest - 1;
    if (before <= position) return position;
    await repository.advance(id, before, before - position, KEPT_DELIVERIES);
    return before;
  }

  /** Takes or renews the lease. False if another process holds it. */
  async #keepLease(id: string): Promise<boolean> {
    const { repository, clock, holder } = this.#options;
    const nowMs = clock.nowMs();
    if ((this.#leases.get(id) ?? 0) - nowMs > LEASE_MS - RENEW_MS) return true;
    const untilMs = nowMs + LEASE_MS;
    const isHeld = await repository.takeLease({ id, holder, nowMs, untilMs });
    if (isHeld) this.#leases.set(id, untilMs);
    else this.#leases.delete(id);
    return isHeld;
  }
}
