import { newWebhookSecret, signatureHeaders, WebhookFailure, type WebhookSender } from '@svc/webhooks';
import type { QuotaLimits } from '@svc/quotas';
import type { Clock, Random } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { EventLog } from '../events/event-log.ts';
import type { SandboxEvent } from '../events/sandbox-event.ts';
import { newWebhookId } from '../identifiers.ts';
import type { Sealer } from '../secrets/secret.ts';
import {
  webhookContext,
  type SandboxWebhook,
  type SigningSecrets,
  type WebhookDelivery,
  type WebhookRepository,
  type WebhookSettings,
} from './webhook.ts';

/** The previous secret also signs for this long after a rotation. */
const OVERLAP_MS = 24 * 3_600_000;
const MOST_ERROR_CHARACTERS = 500;

export interface WebhookServiceDeps {
  readonly repository: WebhookRepository;
  readonly log: EventLog;
  readonly sender: WebhookSender;
  readonly sealer: Sealer;
  readonly quotaLimits: QuotaLimits;
  readonly clock: Clock;
  readonly random: Random;
}

export interface NewWebhook extends WebhookSettings {
  readonly workspaceUuid: string;
  readonly creatorId: string;
}

/** The result of one attempt. */
export interface Attempt {
  /** Status of the response; null without one. */
  readonly status: number | null;
  /** Null if it was delivered. */
  readonly error: string | null;
}

/** Webhooks of workspaces. The caller authorizes access to the workspace. */
export class WebhookService {
  readonly #deps: WebhookServiceDeps;

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps;
  }

  /** Receives events from now on. Returns the signing secret, which is not shown again. */
  async create(given: NewWebhook): Promise<{ webhook: SandboxWebhook; secret: string }> {
    const { repository, log, sealer, quotaLimits, clock, random } = this.#deps;
    this.#check(given.url);
    const { workspaceUuid } = given;
    const id = newWebhookId(random.bytes);
    const now = clock.now().toISOString();
    const webhook = {
      ...given,
      id,
      createdAt: now,
      updatedAt: now,
      position: await log.newest(workspaceUuid),
      disabledReason: null,
      failingSinceMs: null,
      lastError: null,
      missed: 0,
    };
    const secrets: SigningSecrets = { secret: newWebhookSecret(random.bytes), previous: null };
    const sealed = await sealer.wrap(Buffer.from(JSON.stringify(secrets)), webhookContext(id));
    await repository.insert(webhook, sealed, await quotaLimits.readLimits(workspaceUuid));
    return { webhook, secret: secrets.secret };
  }

  list(workspaceUuid: string): Promise<readonly SandboxWebhook[]> {
    return this.#deps.repository.list(workspaceUuid);
  }

  /** Throws WEBHOOK_NOT_FOUND. */
  async get(workspaceUuid: string, id: string): Promise<SandboxWebhook> {
    const webhook = await this.#deps.repository.get(id);
    if (webhook?.workspaceUuid !== workspaceUuid) throw sandboxErrors.WEBHOOK_NOT_FOUND({ details: { id } });
    return webhook;
  }

  /** A webhook that is enabled again receives events from then on. Throws WEBHOOK_NOT_FOUND. */
  async update(workspaceUuid: string, id: string, change: Partial<WebhookSettings>): Promise<SandboxWebhook> {
    const { repository, log, clock } = this.#deps;
    const before = await this.get(workspaceUuid, id);
    if (change.url !== undefined) this.#check(change.url);
    const resumes = change.enabled === true && !before.enabled;
    const changed = await repository.update(id, {
      ...change,
      updatedAt: clock.now().toISOString(),
      ...(resumes && { position: await log.newest(workspaceUuid) }),
    });
    if (changed === null) throw sandboxErrors.WEBHOOK_NOT_FOUND({ details: { id } });
    return changed;
  }

  /** Ends its deliveries, those under way excepted. Throws WEBHOOK_NOT_FOUND. */
  async remove(workspaceUuid: string, id: string): Promise<void> {
    await this.get(workspaceUuid, id);
    await this.#deps.repository.remove(id);
  }

  /** Creates a new secret; the previous one also signs for one day. Throws WEBHOOK_NOT_FOUND and WEBHOOK_BUSY. */
  async rotateSecret(workspaceUuid: string, id: string): Promise<{ secret: string; previousValidUntil: string }> {
    const { repository, sealer, clock, random } = this.#deps;
    await this.get(workspaceUuid, id);
    const before = await repository.sealed(id);
    if (before === null) throw sandboxErrors.WEBHOOK_NOT_FOUND({ details: { id } });
    const untilMs = clock.nowMs() + OVERLAP_MS;
    const { secret: old } = parseSecrets(await sealer.unwrap(before, webhookContext(id)));
    const secrets = { secret: newWebhookSecret(random.bytes), previous: { secret: old, untilMs } };
    const sealed = await sealer.wrap(Buffer.from(JSON.stringify(secrets)), webhookContext(id));
    if (!(await repository.replaceSealed(id, before, sealed, clock.now().toISOString()))) {
      throw sandboxErrors.WEBHOOK_BUSY({ details: { id } });
    }
    return { secret: secrets.secret, previousValidUntil: new Date(untilMs).toISOString() };
  }

  /** Newest first, below the sequence number if given. Throws WEBHOOK_NOT_FOUND. */
  async deliveries(
    workspaceUuid: string,
    id: string,
    below: number | null,
    limit: number,
  ): Promise<readonly WebhookDelivery[]> {
    await this.get(workspaceUuid, id);
    return this.#deps.repository.deliveries(id, below, limit);
  }

  /** Sends an event of the type `test` now. Throws WEBHOOK_NOT_FOUND. */
  async test(workspaceUuid: string, id: string, requestId: string, signal: AbortSignal): Promise<Attempt> {
    const webhook = await this.get(workspaceUuid, id);
    const at = this.#deps.clock.now().toISOString();
    const body = { id: 0, workspace_uuid: workspaceUuid, sandbox_id: null, type: 'test', at, details: {} };
    return this.#send(webhook, `${id}-test-${requestId}`, JSON.stringify(body), signal);
  }

  /** Sends a stored event again, now. Throws WEBHOOK_NOT_FOUND, and EVENT_NOT_FOUND if it is no longer stored. */
  async redeliver(workspaceUuid: string, id: string, sequence: number, signal: AbortSignal): Promise<Attempt> {
    const { repository, log, clock } = this.#deps;
    const webhook = await this.get(workspaceUuid, id);
    const [event] = await log.after({ workspaceUuid, sandboxId: null }, sequence - 1, 1);
    if (event?.sequence !== sequence) throw sandboxErrors.EVENT_NOT_FOUND({ details: { id: sequence } });
    const attempt = await this.sendEvent(webhook, event, signal);
    const before = await repository.findDelivery(id, sequence);
    if (attempt.error !== null && before === null) return attempt; // its first attempt is still to come
    const isDelivered = attempt.error === null || before?.state === 'delivered';
    const state = isDelivered ? ('delivered' as const) : (before?.state ?? 'dropped');
    const attempts = (before?.attempts ?? 0) + 1;
    const nextAttemptAtMs = state === 'retrying' ? (before?.nextAttemptAtMs ?? 0) : 0;
    const attemptedAt = clock.now().toISOString();
    const { sandboxId, type } = event;
    await repository.record(id, [
      { sequence, sandboxId, type, state, attempts, nextAttemptAtMs, attemptedAt, ...attempt },
    ]);
    return attempt;
  }

  /** Sends an event once. Every attempt has the same id, so that receivers recognise repetitions. */
  sendEvent(webhook: SandboxWebhook, event: SandboxEvent, signal: AbortSignal): Promise<Attempt> {
    return this.#send(webhook, `${webhook.id}-${event.sequence}`, eventBody(event), signal);
  }

  async #send(webhook: SandboxWebhook, id: string, body: string, signal: AbortSignal): Promise<Attempt> {
    const { sender, clock } = this.#deps;
    const timestampSeconds = Math.floor(clock.nowMs() / 1_000);
    const secrets = await this.#secrets(webhook.id);
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders({ id, body, timestampSeconds, secrets }),
    };
    try {
      return { status: (await sender.send({ url: webhook.url, headers, body }, signal)).status, error: null };
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error;
      return { status: error.status, error: error.message.slice(0, MOST_ERROR_CHARACTERS) };
    }
  }

  /** The secrets that sign now. Throws WEBHOOK_NOT_FOUND. */
  async #secrets(id: string): Promise<readonly string[]> {
    const { repository, sealer, clock } = this.#deps;
    const sealed = await repository.sealed(id);
    if (sealed === null) throw sandboxErrors.WEBHOOK_NOT_FOUND({ details: { id } });
    const { secret, previous } = parseSecrets(await sealer.unwrap(sealed, webhookContext(id)));
    return previous !== null && previous.untilMs > clock.nowMs() ? [secret, previous.secret] : [secret];
  }

  #check(url: string): void {
    const reason = this.#deps.sender.objection(url);
    if (reason !== null) throw sandboxErrors.INVALID_FIELD({ details: { field: 'url', reason } });
  }
}

function eventBody({ sequence, workspaceUuid, sandboxId, type, at, details }: SandboxEvent): string {
  return JSON.stringify({ id: sequence, workspace_uuid: workspaceUuid, sandbox_id: sandboxId, type, at, details });
}

function parseSecrets(plain: Buffer): SigningSecrets {
  return JSON.parse(plain.toString('utf8')) as SigningSecrets; // as sealed above
}
