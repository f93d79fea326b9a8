import { BackgroundLoop } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import { retryDelayMs } from '@svc/webhooks';
import type { Destination, DueNotification } from '../ports/notifications.ts';
import type { BucketRecord } from '../ports/records.ts';
import type { BucketConfigurations } from '../bucket-configurations.ts';
import type { StoreDeps } from '../store-deps.ts';
import { WorkLease } from '../work-lease.ts';
import { eventMessage } from './event-record.ts';
import { parseNotificationDocument, type NotificationRule } from './notification-document.ts';
import type { NotificationService } from './notification-service.ts';

const POLL_MS = 500;
const LEASE = 'notifications';
/** Longer than a delivery can take, so that two replicas never call one receiver at the same time. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** Receivers served concurrently, and concurrent keys per receiver. */
const MOST_LANES = 32;
const KEYS_AT_ONCE = 4;
const BATCH = 64;
const PAGE = 256;
/** Pause after a receiver fails, doubled each time. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
const PURGE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface DispatcherOptions {
  deps: StoreDeps;
  configurations: BucketConfigurations;
  notifications: NotificationService;
  metrics: Metrics;
  /** Unique among the processes that share the database. */
  holder: string;
}

interface Backoff {
  untilMs: number;
  lengthMs: number;
}

/**
 * Delivers the events in the outbox. Each destination has its own lane, so that a slow or unreachable one does not
 * delay the rest; events of one key are delivered in order. One replica at a time does this, under a lease.
 */
export class NotificationDispatcher {
  readonly #options: DispatcherOptions;
  readonly #count: (outcome: 'delivered' | 'failed' | 'given_up', count?: number) => void;
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #backoffs = new Map<string, Backoff>();
  readonly #lease: WorkLease;
  #purgeAtMs = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { holder, deps } = options;
    const { metadata, clock } = deps;
    this.#lease = new WorkLease({
      metadata,
      name: LEASE,
      holder,
      durationMs: LEASE_MS,
      renewAfterMs: RENEW_MS,
      clock,
    });
    const outcomes = options.metrics.counter(
      'svc_object_store_notifications_total',
      'Delivery attempts by outcome: delivered, failed (retried later), given_up',
      ['outcome'],
    );
    this.#count = (outcome, count = 1) => outcomes.inc({ outcome }, count);
  }

  /** Runs until the signal aborts. Logs a failed pass and tries again in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    const loop = new BackgroundLoop({
      run: () => this.#poll(signal),
      intervalMs: POLL_MS,
      runsAtStart: true,
      onError: (error) => this.#logFailure('looking for notifications', error),
    });
    await loop.runUntil(signal);
    await Promise.all(this.#lanes.values());
    await this.#guarded('giving the lease back', () => this.#lease.release());
  }

  /** Delivers everything that is due now, once. */
  async round(signal: AbortSignal): Promise<void> {
    await this.#poll(signal);
    await Promise.all(this.#lanes.values());
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { metadata, clock } = this.#options.deps;
    await this.#purge();
    for (let after: Destination | null = null; ;) {
      const page: readonly Destination[] = await metadata.waitingDestinations({ after, limit: PAGE });
      for (const destination of page) {
        const name = nameOf(destination);
        if (this.#lanes.has(name) || (this.#backoffs.get(name)?.untilMs ?? 0) > clock.nowMs()) continue;
        if (this.#lanes.size >= MOST_LANES || signal.aborted) return;
        if (!(await this.#lease.keep())) return;
        this.#open(destination, signal);
      }
      after = page.at(-1) ?? null;
      if (page.length < PAGE) return;
    }
  }

  #open(destination: Destination, signal: AbortSignal): void {
    const name = nameOf(destination);
    const lane = this.#guarded('delivering notifications', () => this.#serve(destination, signal));
    this.#lanes.set(
      name,
      lane.finally(() => this.#lanes.delete(name)),
    );
  }

  async #serve(destination: Destination, signal: AbortSignal): Promise<void> {
    const { deps, configurations } = this.#options;
    const bucket = await deps.metadata.findBucketById({ bucketId: destination.bucketId });
    if (bucket === null) return; // its outbox was deleted with it
    const document = (await configurations.of(bucket)).parsed('notification', parseNotificationDocument);
    const rule = document?.rules.find(({ id }) => id === destination.destination);
    if (rule?.enabled !== true) return await this.#forget(destination);
    // After a failure, send a single event first to see whether the receiver is back.
    let width = this.#backoffs.has(nameOf(destination)) ? 1 : KEYS_AT_ONCE;
    while (!signal.aborted) {
      if (!(await this.#lease.keep())) return;
      const limit = width === 1 ? 1 : BATCH;
      const due = await deps.metadata.dueNotifications({ ...destination, nowMs: deps.clock.nowMs(), limit });
      if (due.length === 0) return;
      if (!(await this.#deliverAll(due, bucket, rule, width, signal))) return;
      this.#backoffs.delete(nameOf(destination));
      width = KEYS_AT_ONCE;
    }
  }

  /** False if a delivery failed, which ends the lane. */
  async #deliverAll(
    due: readonly DueNotification[],
    bucket: BucketRecord,
    rule: NotificationRule,
    width: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const keys = [...Map.groupBy(due, ({ key }) => key).values()];
    let taken = true;
    const work = async (): Promise<void> => {
      for (let events = keys.shift(); events !== undefined; events = keys.shift()) {
        for (const event of events) {
          if (!taken || signal.aborted) return;
          taken = (await this.#deliver(event, bucket, rule, signal)) && taken;
        }
      }
    };
    await Promise.all(Array.from({ length: width }, work));
    return taken;
  }

  async #deliver(
    notification: DueNotification,
    bucket: BucketRecord,
    rule: NotificationRule,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { deps, notifications } = this.#options;
    const [region = 'auto'] = deps.config.regions;
    const body = eventMessage(notification, bucket, region);
    try {
      await notifications.deliver(bucket, rule.webhook, `${bucket.id}-${notification.id}`, body, signal);
    } catch (error) {
      if (!signal.aborted) await this.#failed(notification, error);
      return false;
    }
    await deps.metadata.forgetNotifications({ ids: [notification.id] });
    this.#count('delivered');
    return true;
  }

  async #failed(notification: DueNotification, error: unknown): Promise<void> {
    const { metadata, clock, random, config } = this.#options.deps;
    const { retry_seconds: firstSeconds, give_up_seconds: giveUpSeconds } = config.notifications;
    const { id, attempts, bucketId, destination } = notification;
    const reason = error instanceof Error ? error.message.slice(0, 500) : 'it failed';
    const retryMs = retryDelayMs({ attempts, firstMs: firstSeconds * 1_000, random });
    await metadata.postponeNotification({ id, nextAttemptAtMs: clock.nowMs() + retryMs, error: reason });
    this.#count('failed');
    const lengthMs = this.#backoffs.get(nameOf(notification))?.lengthMs ?? FIRST_REST_MS / 2;
    const rest = Math.min(lengthMs * 2, LONGEST_REST_MS);
    this.#backoffs.set(nameOf(notification), { untilMs: clock.nowMs() + rest, lengthMs: rest });
    const createdBeforeMs = clock.nowMs() - giveUpSeconds * 1_000 + 1;
    const old = { bucketId, destination, createdBeforeMs, nowMs: clock.nowMs(), error: reason, limit: 1_000 };
    for (let count = 1_000; count === 1_000;) {
      count = await metadata.abandonNotifications(old);
      this.#count('given_up', count);
    }
  }

  /** Drops the events of a rule that is deleted or disabled. */
  async #forget(destination: Destination): Promise<void> {
    while ((await this.#options.deps.metadata.forgetDestination({ ...destination, limit: 1_000 })) === 1_000);
    this.#backoffs.delete(nameOf(destination));
  }

  async #purge(): Promise<void> {
    const { metadata, clock, config } = this.#options.deps;
    if (clock.nowMs() < this.#purgeAtMs) return;
    this.#purgeAtMs = clock.nowMs() + PURGE_MS;
    for (const [name, rest] of this.#backoffs) if (rest.untilMs + DAY_MS < clock.nowMs()) this.#backoffs.delete(name);
    const failedBeforeMs = clock.nowMs() - config.notifications.keep_failed_days * DAY_MS;
    await metadata.forgetFailedNotifications({ failedBeforeMs, limit: 10_000 });
  }

  async #guarded(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logFailure(what, error);
    }
  }

  #logFailure(what: string, error: unknown): void {
    this.#options.deps.log.error({ err: error }, `${what} failed`);
  }
}

function nameOf({ bucketId, destination }: Destination): string {
  return `${bucketId}/${destination}`;
}
