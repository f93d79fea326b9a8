import type { WrappedKey } from '@svc/keys';
import type { Limits } from '@svc/quotas';
import type { SandboxEventType } from '../events/sandbox-event.ts';

/** A receiver of the events of a workspace's sandboxes. Times are ISO 8601 UTC unless their name says otherwise. */
export interface SandboxWebhook {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly url: string;
  readonly description: string;
  /** The types it receives; null for all. */
  readonly events: readonly SandboxEventType[] | null;
  readonly enabled: boolean;
  /** Why the platform disabled it; null unless it did. */
  readonly disabledReason: string | null;
  readonly creatorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Every event up to this sequence number is delivered, dropped, or not wanted. */
  readonly position: number;
  /** When the first of the latest attempts failed; null after a success. */
  readonly failingSinceMs: number | null;
  readonly lastError: string | null;
  /** Counts events that were pruned before they were delivered. */
  readonly missed: number;
}

/** What a user decides about a webhook. */
export type WebhookSettings = Pick<SandboxWebhook, 'url' | 'description' | 'events' | 'enabled'>;

/** `retrying`: the last attempt failed and another follows. `dropped`: the event got too old. */
export type DeliveryState = 'delivered' | 'retrying' | 'dropped';

/** The delivery of one event to a webhook. */
export interface WebhookDelivery {
  /** Sequence number of the event. */
  readonly sequence: number;
  readonly sandboxId: string;
  readonly type: SandboxEventType;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** 0 unless it is retried. */
  readonly nextAttemptAtMs: number;
  /** When it was last attempted. */
  readonly attemptedAt: string;
  /** Status of the receiver's last response; null without one. */
  readonly status: number | null;
  /** Why the last attempt failed; null if it did not. */
  readonly error: string | null;
}

/** The secrets that sign, sealed together. */
export interface SigningSecrets {
  readonly secret: string;
  readonly previous: { readonly secret: string; readonly untilMs: number } | null;
}

/** Binds sealed secrets to their webhook. */
export function webhookContext(id: string): string {
  return `sandbox-webhook:${id}`;
}

/** What the result of an attempt changes about the webhook itself. */
export interface WebhookHealth {
  readonly failingSinceMs: number | null;
  readonly lastError: string | null;
}

/** Stores webhooks, and what became of each event that they want. */
export interface WebhookRepository {
  /** Checks the quota in the same transaction. Throws QUOTA_EXCEEDED. */
  insert(webhook: SandboxWebhook, sealed: WrappedKey, limits: Limits): Promise<void>;
  /** Oldest first. */
  list(workspaceUuid: string): Promise<readonly SandboxWebhook[]>;
  /** The webhook, of any workspace. */
  get(id: string): Promise<SandboxWebhook | null>;
  /** Changes settings. With `position`, deliveries start anew after that event. Null if it is gone. */
  update(
    id: string,
    change: Partial<WebhookSettings> & { readonly updatedAt: string; readonly position?: number },
  ): Promise<SandboxWebhook | null>;
  /** Disables a webhook that failed for too long. */
  disable(id: string, reason: string, updatedAt: string): Promise<void>;
  remove(id: string): Promise<boolean>;
  count(workspaceUuid: string): Promise<number>;
  sealed(id: string): Promise<WrappedKey | null>;
  /** Replaces the secrets unless another call did so since `before` was read. */
  replaceSealed(id: string, before: WrappedKey, sealed: WrappedKey, updatedAt: string): Promise<boolean>;

  /** Ids of enabled webhooks with events after their position, in order, after the given one. */
  waiting(after: string, limit: number): Promise<readonly Pick<SandboxWebhook, 'id' | 'workspaceUuid'>[]>;
  /** Takes or renews the right to deliver to this webhook. False if another process holds it. */
  takeLease(input: {
    readonly id: string;
    readonly holder: string;
    readonly nowMs: number;
    readonly untilMs: number;
  }): Promise<boolean>;
  /** Lets other processes deliver at once. */
  releaseLeases(holder: string): Promise<void>;
  /** Deliveries of events after the position, oldest first. */
  attempted(id: string, position: number, limit: number): Promise<readonly WebhookDelivery[]>;
  /** Stores deliveries, and the webhook's health, in one transaction. Does nothing if the webhook is gone. */
  record(id: string, deliveries: readonly WebhookDelivery[], health?: WebhookHealth): Promise<void>;
  /** Moves the position forward, counts missed events, and forgets the oldest deliveries beyond `kept`. */
  advance(id: string, position: number, missed: number, kept: number): Promise<void>;
  /** Newest first, below the sequence number if given. */
  deliveries(id: string, below: number | null, limit: number): Promise<readonly WebhookDelivery[]>;
  findDelivery(id: string, sequence: number): Promise<WebhookDelivery | null>;
}
