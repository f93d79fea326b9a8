import { newWebhookSecret, signatureHeaders, WebhookFailure } from '@svc/webhooks';
import { storeErrors } from '../../errors.ts';
import type { DeliveryState, FailedNotification } from '../ports/notifications.ts';
import type { BucketRecord } from '../ports/records.ts';
import type { BucketConfigurations } from '../bucket-configurations.ts';
import { editDocuments } from '../settings/edit-documents.ts';
import type { StoreDeps } from '../store-deps.ts';
import { isEventPattern } from './event-names.ts';
import { testMessage } from './event-record.ts';
import {
  parseNotificationDocument,
  webhookSecretContext,
  withRules,
  type NotificationDocument,
  type NotificationRule,
} from './notification-document.ts';

/** Both secrets sign for this long after a change. */
const OVERLAP_MS = 24 * 3_600_000;
const MOST_RULES = 100;
const MOST_COUNTED = 10_000;
const MOST_FAILED_SHOWN = 100;
const MOST_RETRIED = 10_000;

export interface WebhookSecrets {
  secret: string;
  /** Null if the previous secret no longer signs. */
  previousValidUntilMs: number | null;
}

export interface NotificationState {
  delivery: DeliveryState;
  /** Latest first. */
  failed: readonly FailedNotification[];
}

type FindBucket = () => Promise<BucketRecord>;

/** Notifications of a bucket: its rules, their signing secret, and the state of deliveries. */
export class NotificationService {
  readonly #deps: StoreDeps;
  readonly #configurations: BucketConfigurations;

  constructor(deps: StoreDeps, configurations: BucketConfigurations) {
    this.#deps = deps;
    this.#configurations = configurations;
  }

  async rules(bucket: BucketRecord): Promise<readonly NotificationRule[]> {
    return (await this.#readDocument(bucket))?.rules ?? [];
  }

  /** Throws `InvalidArgument` with the reason. Changes nothing. */
  check(rules: readonly NotificationRule[]): void {
    checkRules(rules, (url) => this.#deps.webhooks.objection(url));
  }

  /** Validates and replaces all rules. `find` reads the bucket with the caller's own access checks. */
  async replaceRules(find: FindBucket, rules: readonly NotificationRule[]): Promise<void> {
    this.check(rules);
    await this.#edit(find, (_, before) => withRules(before, rules));
  }

  /** Created on the first call. */
  async secrets(find: FindBucket): Promise<WebhookSecrets> {
    const bucket = await find();
    const known = await this.#readDocument(bucket);
    if (known?.secret !== undefined) return opened(this.#deps, bucket, known);
    const made = await this.#edit(find, (each, before) =>
      before?.secret === undefined ? withNewSecret(this.#deps, each, before) : before,
    );
    return opened(this.#deps, bucket, made);
  }

  async changeSecret(find: FindBucket): Promise<WebhookSecrets> {
    const made = await this.#edit(find, (bucket, before) => withNewSecret(this.#deps, bucket, before));
    return opened(this.#deps, await find(), made);
  }

  async state({ id: bucketId }: BucketRecord): Promise<NotificationState> {
    const { metadata } = this.#deps;
    return {
      delivery: await metadata.deliveryState({ bucketId, countLimit: MOST_COUNTED }),
      failed: await metadata.failedNotifications({ bucketId, limit: MOST_FAILED_SHOWN }),
    };
  }

  /** Retries events that were given up. Returns the number queued again. */
  async retry({ id: bucketId }: BucketRecord, ids?: readonly number[]): Promise<number> {
    const { metadata, clock } = this.#deps;
    const chosen = ids === undefined ? {} : { ids };
    return await metadata.retryNotifications({ bucketId, nowMs: clock.nowMs(), limit: MOST_RETRIED, ...chosen });
  }

  /** Sends one signed message now. The id must be the same on every attempt. Throws `WebhookRefused`. */
  async deliver(bucket: BucketRecord, url: string, id: string, body: string, signal: AbortSignal): Promise<void> {
    const { metadata, webhooks, clock } = this.#deps;
    const find = async (): Promise<BucketRecord> => (await metadata.findBucketById({ bucketId: bucket.id })) ?? bucket;
    const { secret } = await this.secrets(find);
    const previous = await previousSecret(this.#deps, bucket, await this.#readDocument(await find()));
    const signed = { id, body, timestampSeconds: Math.floor(clock.nowMs() / 1_000), secrets: [secret, ...previous] };
    const headers = { 'content-type': 'application/json', ...signatureHeaders(signed) };
    try {
      await webhooks.send({ url, headers, body }, signal);
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error;
      throw storeErrors.WebhookRefused({ details: { reason: error.message }, cause: error });
    }
  }

  /**
   * Sends S3's test event to the rule, or to the first one. Throws `WebhookRefused`, or `InvalidArgument` if there is
   * no such rule.
   */
  async test(bucket: BucketRecord, ruleId: string | null, requestId: string, signal: AbortSignal): Promise<void> {
    const rules = await this.rules(bucket);
    const rule = ruleId === null ? rules[0] : rules.find(({ id }) => id === ruleId);
    if (rule === undefined) throw invalid('the bucket has no such rule');
    const body = testMessage(bucket, requestId, this.#deps.clock.nowMs());
    await this.deliver(bucket, rule.webhook, `${bucket.id}-test-${requestId}`, body, signal);
  }

  async #readDocument(bucket: BucketRecord): Promise<NotificationDocument | null> {
    return (await this.#configurations.of(bucket)).parsed('notification', parseNotificationDocument);
  }

  async #edit(
    find: FindBucket,
    change: (
      bucket: BucketRecord,
      before: NotificationDocument | null,
    ) => NotificationDocument | null | Promise<NotificationDocument | null>,
  ): Promise<NotificationDocument | null> {
    const { metadata, clock } = this.#deps;
    const edited = await editDocuments(
      { metadata, configurations: this.#configurations, clock },
      {
        find,
        edit: async (before, bucket) => {
          const document = await change(bucket, before.parsed('notification', parseNotificationDocument));
          return [{ name: 'notification', document: document === null ? null : JSON.stringify(document) }];
        },
      },
    );
    return edited.configuration.parsed('notification', parseNotificationDocument);
  }
}

function checkRules(rules: readonly NotificationRule[], objectionTo: (url: string) => string | null): void {
  if (rules.length > MOST_RULES) throw invalid(`a bucket has at most ${MOST_RULES} rules`);
  if (new Set(rules.map(({ id }) => id)).size < rules.length) throw invalid('two rules have the same id');
  for (const { id, webhook, events } of rules) {
    const objection = objectionTo(webhook);
    if (objection !== null) throw invalid(`rule ${id.slice(0, 80)}: ${objection}`);
    const unknown = events.find((event) => !isEventPattern(event));
    if (unknown !== undefined) throw invalid(`rule ${id.slice(0, 80)}: there is no event ${unknown.slice(0, 80)}`);
    if (events.length === 0) throw invalid(`rule ${id.slice(0, 80)}: it names no event`);
  }
}

async function withNewSecret(
  { secrets, random, clock }: StoreDeps,
  bucket: BucketRecord,
  before: NotificationDocument | null,
): Promise<NotificationDocument> {
  const sealed = await secrets.seal(newWebhookSecret(random), webhookSecretContext(bucket.id));
  const previous = before?.secret;
  return {
    ...before,
    rules: before?.rules ?? [],
    secret: sealed,
    ...(previous === undefined ? {} : { previousSecret: { sealed: previous, untilMs: clock.nowMs() + OVERLAP_MS } }),
  };
}

async function opened(
  { secrets, clock }: StoreDeps,
  bucket: BucketRecord,
  document: NotificationDocument | null,
): Promise<WebhookSecrets> {
  if (document?.secret === undefined) throw storeErrors.OperationAborted(); // just removed by a concurrent change
  const untilMs = document.previousSecret?.untilMs ?? 0;
  return {
    secret: await secrets.open(document.secret, webhookSecretContext(bucket.id)),
    previousValidUntilMs: untilMs > clock.nowMs() ? untilMs : null,
  };
}

async function previousSecret(
  { secrets, clock }: StoreDeps,
  bucket: BucketRecord,
  document: NotificationDocument | null,
): Promise<readonly string[]> {
  const previous = document?.previousSecret;
  if (previous === undefined || previous.untilMs <= clock.nowMs()) return [];
  return [await secrets.open(previous.sealed, webhookSecretContext(bucket.id))];
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason } });
}
