import type { EventName } from '../notifications/event-names.ts';

/** The origin of a change. Empty for changes without a request, such as lifecycle expirations. */
export interface EventOrigin {
  principal: string;
  requestId: string;
  sourceAddress: string;
}

/** Rules that match a change. Determined beforehand, so that buckets without notifications have no cost. */
export interface NotifyRule {
  rules: readonly {
    destination: string;
    /** Such as `s3:ObjectCreated:*`. */
    patterns: readonly string[];
  }[];
  origin: EventOrigin;
}

/** An event as stored in the outbox. */
export interface StoredEvent {
  name: EventName;
  timeMs: number;
  /** Null in an unversioned bucket. */
  versionId: string | null;
  sizeBytes: number;
  /** Empty for deletions. */
  etag: string;
  origin: EventOrigin;
}

/** A receiver of events: a rule of a bucket. Events of one key are sent to it in order. */
export interface Destination {
  bucketId: number;
  /** Id of the rule. */
  destination: string;
}

/** A receiver with queued events. */
export interface WaitingDestination extends Destination {
  /** The workspace of the bucket. */
  workspaceUuid: string;
}

/** A queued event. */
export interface DueNotification extends Destination {
  /** Increasing: of two events of one key, the later one has the greater id. */
  id: number;
  key: string;
  event: StoredEvent;
  /** When the event was queued. */
  createdAtMs: number;
  attempts: number;
}

/** An event that was given up. */
export interface FailedNotification extends DueNotification {
  failedAtMs: number;
  lastError: string;
}

/** State of a bucket's deliveries. */
export interface DeliveryState {
  /** Number of waiting events, counted up to `countLimit`. */
  waiting: number;
  /** About the oldest waiting event: when it was queued, its next attempt, and its last error. */
  oldestWaitingAtMs: number | null;
  nextAttemptAtMs: number | null;
  lastError: string | null;
  /** Number of events given up, counted up to `countLimit`. */
  failed: number;
}

/** Commands on the outbox. */
export interface NotificationCommands {
  /** Removes events that were delivered or are no longer needed. */
  forgetNotifications(input: { ids: readonly number[] }): Promise<void>;
  /** Removes the events of a deleted rule. Returns the number removed. */
  forgetDestination(input: Destination & { limit: number }): Promise<number>;
  /** Delays this event and all later ones of the same key, which keeps their order. */
  postponeNotification(input: { id: number; nextAttemptAtMs: number; error: string }): Promise<void>;
  /** Gives up events that were queued before then. They stay visible. Returns the number given up. */
  abandonNotifications(
    input: Destination & { createdBeforeMs: number; nowMs: number; error: string; limit: number },
  ): Promise<number>;
  /** Queues events again that were given up; all of the bucket without `ids`. Returns the number queued. */
  retryNotifications(input: {
    bucketId: number;
    ids?: readonly number[];
    nowMs: number;
    limit: number;
  }): Promise<number>;
  /** Removes events that were given up before then. Returns the number removed. */
  forgetFailedNotifications(input: { failedBeforeMs: number; limit: number }): Promise<number>;
}

/** Queries of the outbox. */
export interface NotificationQueries {
  /** Destinations with waiting events, in order, after the given one. */
  waitingDestinations(input: { after: Destination | null; limit: number }): Promise<readonly WaitingDestination[]>;
  /** In queue order. Excludes events behind one of the same key that is not due yet. */
  dueNotifications(input: Destination & { nowMs: number; limit: number }): Promise<readonly DueNotification[]>;
  deliveryState(input: { bucketId: number; countLimit: number }): Promise<DeliveryState>;
  /** Latest first. */
  failedNotifications(input: { bucketId: number; limit: number }): Promise<readonly FailedNotification[]>;
}
