import { BackgroundLoop } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import { DeliveryTurns, retryDelayMs, type DeliveryOutcome, type DeliveryPass } from '@svc/webhooks';
import type { Destination, DueNotification, WaitingDestination } from '../ports/notifications.ts';
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
const BATCH = 64;
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

/** A destination, with the name that its turns have. */
type Receiver = WaitingDestination & { readonly id: string };

/**
 * Delivers the events in the outbox. Destinations take turns, so that slow or unreachable ones do not delay the rest;
 * events of one key are delivered in order. One replica at a time does this, under a lease.
 */
export class NotificationDispatcher {
  readonly #options: DispatcherOptions;
  readonly #count: (outcome: 'delivered' | 'failed' | 'given_up', count?: number) => void;
  readonly #turns: DeliveryTurns<Receiver>;
  readonly #lease: WorkLease;
  #purgeAtMs = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { holder, deps } = options;
    const { metadata, clock, quotaLimits } = deps;
    this.#lease = new WorkLease({
      metadata,
      name: LEASE,
      holder,
      durationMs: LEASE_MS,
      renewAfterMs: RENEW_MS,
      clock,
    });
    this.#turns = new DeliveryTurns<Receiver>({
      waiting: (after, limit) => this.#waiting(after, limit),
      serve: (receiver, pass) => this.#serve(receiver, pass),
      owners: quotaLimits,
      onError: (error) => this.#logFailure('delivering notifications', error),
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
      clock: this.#options.deps.clock,
    });
    await loop.runUntil(signal);
    await this.#turns.settle();
    await this.#lease.release().catch((error: unknown) => this.#logFailure('giving the lease back', error));
  }

  /** Gives each destination one pass for what is due now. */
  async round(signal: AbortSignal): Promise<void> {
    await this.#poll(signal);
    await this.#turns.settle();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    await this.#purge();
    await this.#turns.admit(signal);
  }

  /** None while another replica has the lease. */
  async #waiting(after: Receiver | null, limit: number): Promise<readonly Receiver[]> {
    const page = await this.#options.deps.metadata.waitingDestinations({ after, limit });
    if (page.length === 0 || !(await this.#lease.keep())) return [];
    return page.map((each) => ({ ...each, id: `${each.bucketId}/${each.destination}` }));
  }

  async #serve(receiver: Receiver, pass: DeliveryPass): Promise<void> {
    const { metadata, clock } = this.#options.deps;
    const { bucketId, destination } = receiver;
    const found = await this.#find(receiver);
    if (found === null) return; // its outbox was deleted with it
    if (found.rule === null) return await this.#forget({ bucketId, destination });
    while (!pass.isOver) {
      const due = await metadata.dueNotifications({ bucketId, destination, nowMs: clock.nowMs(), limit: BATCH });
      if (due.length === 0) return;
      const outcome = await pass.deliver(
        due,
        ({ key }) => key,
        (event) => this.#deliver(event, receiver, pass.signal),
      );
      if (outcome !== 'delivered') return;
    }
  }

  /** Null without the bucket; the rule is null unless it is enabled. */
  async #find({
    bucketId,
    destination,
  }: Destination): Promise<{ bucket: BucketRecord; rule: NotificationRule | null } | null> {
    const { deps, configurations } = this.#options;
    const bucket = await deps.metadata.findBucketById({ bucketId });
    if (bucket === null) return null;
    const document = (await configurations.of(bucket)).parsed('notification', parseNotificationDocument);
    const rule = document?.rules.find(({ id }) => id === destination);
    return { bucket, rule: rule?.enabled === true ? rule : null };
  }

  async #deliver(notification: DueNotification, receiver: Receiver, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (signal.aborted || !(await this.#lease.keep())) return 'stopped';
    const found = await this.#find(receiver);
    if (found === null || found.rule === null) return 'stopped'; // since the pass began
    const { bucket, rule } = found;
    const { deps, notifications } = this.#options;
    const [region = 'auto'] = deps.config.regions;
    const body = eventMessage(notification, bucket, region);
    try {
      await notifications.deliver(bucket, rule.webhook, `${bucket.id}-${notification.id}`, body, signal);
    } catch (error) {
      if (signal.aborted) return 'stopped';
      await this.#failed(notification, error);
      return 'failed';
    }
    await deps.metadata.forgetNotifications({ ids: [notification.id] });
    this.#count('delivered');
    return 'delivered';
  }

  async #failed(notification: DueNotification, error: unknown): Promise<void> {
    const { metadata, clock, random, config } = this.#options.deps;
    const { retry_seconds: firstSeconds, give_up_seconds: giveUpSeconds } = config.notifications;
    const { id, attempts, bucketId, destination } = notification;
    const reason = error instanceof Error ? error.message.slice(0, 500) : 'it failed';
    const retryMs = retryDelayMs({ attempts, firstMs: firstSeconds * 1_000, random });
    await metadata.postponeNotification({ id, nextAttemptAtMs: clock.nowMs() + retryMs, error: reason });
    this.#count('failed');
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
  }

  async #purge(): Promise<void> {
    const { metadata, clock, config } = this.#options.deps;
    if (clock.nowMs() < this.#purgeAtMs) return;
    this.#purgeAtMs = clock.nowMs() + PURGE_MS;
    const failedBeforeMs = clock.nowMs() - config.notifications.keep_failed_days * DAY_MS;
    await metadata.forgetFailedNotifications({ failedBeforeMs, limit: 10_000 });
  }

  #logFailure(what: string, error: unknown): void {
    this.#options.deps.log.error({ err: error }, `${what} failed`);
  }
}
