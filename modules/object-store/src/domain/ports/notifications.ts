import type { EventName } from '../notifications/event-names.ts';

/** By whom and how a change came. Empty texts where nobody asked for it, as with lifecycle. */
export interface EventOrigin {
  principal: string;
  requestId: string;
  sourceAddress: string;
}

/** Whom a change is told; decided before, so that a bucket without notifications costs nothing. */
export interface NotifyRule {
  rules: readonly {
    destination: string;
    /** `s3:ObjectCreated:*` and the like. */
    patterns: readonly string[];
  }[];
  origin: EventOrigin;
}

export interface StoredEvent {
  name: EventName;
  timeMs: number;
  /** Null where the bucket keeps no versions. */
  versionId: string | null;
  sizeBytes: number;
  /** Empty for what was removed. */
  etag: string;
  origin: EventOrigin;
}

/** Who is told something: a rule of a bucket. Events of one key go there one after the other. */
export interface Destination {
  bucketId: number;
  /** Id of the rule. */
  destination: string;
}

export interface DueNotification extends Destination {
  /** Grows; of two events of one key, the later one has the greater. */
  id: number;
  key: string;
  event: StoredEvent;
  /** Since when it waits. */
  createdAtMs: number;
  attempts: number;
}

/** One that was given up. */
export interface FailedNotification extends DueNotification {
  failedAtMs: number;
  lastError: string;
}

export interface DeliveryState {
  /** How many wait, counted up to `countLimit`. */
  waiting: number;
  /** Of the oldest that waits: since when, when it is tried next, and why it failed before. */
  oldestWaitingAtMs: number | null;
  nextAttemptAtMs: number | null;
  lastError: string | null;
  /** How many were given up, counted up to `countLimit`. */
  failed: number;
}

export interface NotificationCommands {
  /** Delivered, or told to nobody any more. */
  forgetNotifications(input: { ids: readonly number[] }): Promise<void>;
  /** Of a rule that is no more. Answers how many went. */
  forgetDestination(input: Destination & { limit: number }): Promise<number>;
  /** This one and all after it of the same key wait: order is kept. */
  postponeNotification(input: { id: number; nextAttemptAtMs: number; error: string }): Promise<void>;
  /** Those that wait since before then are given up, and stay visible. Answers how many. */
  giveUpNotifications(
    input: Destination & { createdBeforeMs: number; nowMs: number; error: string; limit: number },
  ): Promise<number>;
  /** Those that were given up wait again; all of the bucket without `ids`. Answers how many. */
  retryNotifications(input: {
    bucketId: number;
    ids?: readonly number[];
    nowMs: number;
    limit: number;
  }): Promise<number>;
  /** What was given up before then is forgotten. Answers how many. */
  forgetFailedNotifications(input: { failedBeforeMs: number; limit: number }): Promise<number>;
}

export interface NotificationQueries {
  /** Those for whom something waits, in order, after the given one. */
  waitingDestinations(input: { after: Destination | null; limit: number }): Promise<readonly Destination[]>;
  /** In the order in which they came; none that comes after one of the same key that is not due yet. */
  dueNotifications(input: Destination & { nowMs: number; limit: number }): Promise<readonly DueNotification[]>;
  deliveryState(input: { bucketId: number; countLimit: number }): Promise<DeliveryState>;
  /** The latest first. */
  failedNotifications(input: { bucketId: number; limit: number }): Promise<readonly FailedNotification[]>;
}

export interface Webhook {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Brings one event to its receiver. Throws `WebhookRefused` with the reason unless it answered 2xx in time. */
export interface WebhookSender {
  send(webhook: Webhook, signal: AbortSignal): Promise<{ status: number }>;
  /** A reason why nothing would ever be sent there; null where nothing is wrong with the URL itself. */
  objection(url: string): string | null;
}
