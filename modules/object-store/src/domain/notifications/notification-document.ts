/** The bucket's document `notification`. */
export interface NotificationDocument {
  rules: readonly NotificationRule[];
  /** What signs the webhooks, sealed; made when it is first needed. */
  secret?: string;
  /** Signs as well for a while after a change, so that receivers can follow. */
  previousSecret?: { sealed: string; untilMs: number };
}

/** Which changes are told to whom. */
export interface NotificationRule {
  /** Unique in the bucket. */
  id: string;
  enabled: boolean;
  /** `https://` or `http://`. */
  webhook: string;
  /** `s3:ObjectCreated:*` and the like. */
  events: readonly string[];
  prefix: string;
  suffix: string;
  /** Shown to S3 clients as the topic that it came as, and not as a queue. */
  topic?: boolean;
}

/** Of the rule that the settings of a bucket make when they name none. */
export const DEFAULT_RULE_ID = 'webhook';

/** Under which a secret is sealed: it opens for its own bucket alone. */
export function webhookSecretContext(bucketId: number): string {
  return `webhook-secret/${bucketId}`;
}

export function parseNotificationDocument(document: string): NotificationDocument {
  return JSON.parse(document) as NotificationDocument; // checked by a schema before it was stored
}

/** The rules are replaced, what signs stays; null where nothing is left to keep. */
export function withRules(
  before: NotificationDocument | null,
  rules: readonly NotificationRule[],
): NotificationDocument | null {
  if (rules.length === 0 && before?.secret === undefined) return null;
  return { ...before, rules };
}
