/** The document `notification` of a bucket. */
export interface NotificationDocument {
  rules: readonly NotificationRule[];
  /** Sealed secret that signs the webhooks. Created on first use. */
  secret?: string;
  /** Also signs for a while after a change, so that receivers can switch over. */
  previousSecret?: { sealed: string; untilMs: number };
}

/** Sends selected events to a webhook. */
export interface NotificationRule {
  /** Unique in the bucket. */
  id: string;
  enabled: boolean;
  /** `https://` or `http://`. */
  webhook: string;
  /** Such as `s3:ObjectCreated:*`. */
  events: readonly string[];
  prefix: string;
  suffix: string;
  /** Shown to S3 clients as a topic, as it was configured, rather than as a queue. */
  topic?: boolean;
}

/** Id of the rule that a bucket's settings create if they name none. */
export const DEFAULT_RULE_ID = 'webhook';

/** Binds a sealed secret to its bucket. */
export function webhookSecretContext(bucketId: number): string {
  return `webhook-secret/${bucketId}`;
}

export function parseNotificationDocument(document: string): NotificationDocument {
  return JSON.parse(document) as NotificationDocument; // validated by a schema before it was stored
}

/** Replaces the rules and keeps the secrets. Null if nothing is left to keep. */
export function withRules(
  before: NotificationDocument | null,
  rules: readonly NotificationRule[],
): NotificationDocument | null {
  if (rules.length === 0 && before?.secret === undefined) return null;
  return { ...before, rules };
}
