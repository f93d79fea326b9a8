import type { WrappedKey } from '@svc/keys';
import { sql, type Kysely } from 'kysely';
import { quotaExceeded } from '../domain/admission.ts';
import { EVENT_TYPES, type SandboxEventType } from '../domain/events/sandbox-event.ts';
import type { DeliveryState, SandboxWebhook, WebhookDelivery, WebhookRepository } from '../domain/webhooks/webhook.ts';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import type { SandboxTables, WebhookDeliveryRow, WebhookRow } from './tables.ts';

type Tables = Kysely<SandboxTables>;

export function createWebhookRepository(kysely: Tables): WebhookRepository {
  return { ...createSettings(kysely), ...createQueue(kysely), ...createDeliveries(kysely) };
}

type Settings = Pick<
  WebhookRepository,
  'insert' | 'list' | 'get' | 'update' | 'disable' | 'remove' | 'count' | 'sealed' | 'replaceSealed'
>;

function createSettings(kysely: Tables): Settings {
  return {
    async insert(webhook, sealed, limits) {
      await kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.webhooks, 1]]);
        if (breach !== null) throw quotaExceeded(breach);
        await transaction.insertInto('sandbox_webhook').values(toRow(webhook, sealed)).execute();
      });
    },

    async list(workspaceUuid) {
      const query = kysely.selectFrom('sandbox_webhook').selectAll().where('workspace_uuid', '=', workspaceUuid);
      return (await query.orderBy('created_at').orderBy('id').execute()).map(fromRow);
    },

    async get(id) {
      const row = await kysely.selectFrom('sandbox_webhook').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    update: (id, change) => update(kysely, id, change),

    async disable(id, reason, updatedAt) {
      await kysely
        .updateTable('sandbox_webhook')
        .set({ enabled: 0, disabled_reason: reason, updated_at: updatedAt })
        .where('id', '=', id)
        .where('enabled', '=', 1)
        .execute();
    },

    async remove(id) {
      const rows = await kysely.deleteFrom('sandbox_webhook').where('id', '=', id).returning('id').execute();
      return rows.length > 0;
    },

    async count(workspaceUuid) {
      const { count } = await kysely
        .selectFrom('sandbox_webhook')
        .where('workspace_uuid', '=', workspaceUuid)
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async sealed(id) {
      const query = kysely.selectFrom('sandbox_webhook').select(['wrapper', 'box']).where('id', '=', id);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : { wrapper: row.wrapper, text: row.box };
    },

    async replaceSealed(id, before, sealed, updatedAt) {
      const rows = await kysely
        .updateTable('sandbox_webhook')
        .set({ wrapper: sealed.wrapper, box: sealed.text, updated_at: updatedAt })
        .where('id', '=', id)
        .where('box', '=', before.text)
        .returning('id')
        .execute();
      return rows.length > 0;
    },
  };
}

/** A webhook that starts anew forgets the retries of before, its failures, and why it was disabled. */
async function update(
  kysely: Tables,
  id: string,
  { url, description, events, enabled, updatedAt, position }: Parameters<WebhookRepository['update']>[1],
): Promise<SandboxWebhook | null> {
  return await kysely.transaction().execute(async (transaction) => {
    if (position !== undefined) {
      await transaction
        .deleteFrom('sandbox_webhook_delivery')
        .where('webhook_id', '=', id)
        .where('state', '=', 'retrying')
        .execute();
    }
    const row = await transaction
      .updateTable('sandbox_webhook')
      .set({
        updated_at: updatedAt,
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description }),
        ...(events !== undefined && { events: events === null ? null : JSON.stringify(events) }),
        ...(enabled !== undefined && { enabled: enabled ? 1 : 0, disabled_reason: null }),
        ...(position !== undefined && { position, failing_since_ms: null, last_error: null }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? null : fromRow(row);
  });
}

function createQueue(kysely: Tables): Pick<WebhookRepository, 'waiting' | 'takeLease' | 'releaseLeases' | 'advance'> {
  return {
    async waiting(after, limit) {
      return kysely
        .selectFrom('sandbox_webhook as webhook')
        .innerJoin('sandbox_event_counter as counter', 'counter.workspace_uuid', 'webhook.workspace_uuid')
        .select(['webhook.id', 'webhook.workspace_uuid as workspaceUuid'])
        .where('webhook.id', '>', after)
        .where('webhook.enabled', '=', 1)
        .whereRef('counter.last_sequence', '>', 'webhook.position')
        .orderBy('webhook.id')
        .limit(limit)
        .execute();
    },

    async takeLease({ id, holder, nowMs, untilMs }) {
      const rows = await kysely
        .updateTable('sandbox_webhook')
        .set({ lease_holder: holder, lease_until_ms: untilMs })
        .where('id', '=', id)
        .where(({ or, eb }) => or([eb('lease_holder', '=', holder), eb('lease_until_ms', '<=', nowMs)]))
        .returning('id')
        .execute();
      return rows.length > 0;
    },

    async releaseLeases(holder) {
      const released = { lease_holder: null, lease_until_ms: 0 };
      await kysely.updateTable('sandbox_webhook').set(released).where('lease_holder', '=', holder).execute();
    },

    async advance(id, position, missed, kept) {
      await kysely.transaction().execute(async (transaction) => {
        const rows = await transaction
          .updateTable('sandbox_webhook')
          .set({ position, missed: sql<number>`missed + ${missed}` })
          .where('id', '=', id)
          .where('position', '<', position) // it may have started anew
          .returning('id')
          .execute();
        if (rows.length === 0) return;
        const ofWebhook = transaction.selectFrom('sandbox_webhook_delivery').where('webhook_id', '=', id);
        const query = ofWebhook.select('sequence').where('sequence', '<=', position);
        const oldest = await query.orderBy('sequence', 'desc').offset(kept).limit(1).executeTakeFirst();
        if (oldest === undefined) return;
        await transaction
          .deleteFrom('sandbox_webhook_delivery')
          .where('webhook_id', '=', id)
          .where('sequence', '<=', Number(oldest.sequence))
          .execute();
      });
    },
  };
}

function createDeliveries(
  kysely: Tables,
): Pick<WebhookRepository, 'attempted' | 'record' | 'deliveries' | 'findDelivery'> {
  const ofWebhook = (id: string) =>
    kysely.selectFrom('sandbox_webhook_delivery').selectAll().where('webhook_id', '=', id);
  return {
    async attempted(id, position, limit) {
      const query = ofWebhook(id).where('sequence', '>', position).orderBy('sequence').limit(limit);
      return (await query.execute()).map(fromDeliveryRow);
    },

    async record(id, deliveries, health) {
      await kysely.transaction().execute(async (transaction) => {
        const webhook = transaction.updateTable('sandbox_webhook').where('id', '=', id);
        const changed = await webhook
          .set(
            health === undefined
              ? { last_error: sql<string | null>`last_error` } // locks the row, so that it outlives this transaction
              : { failing_since_ms: health.failingSinceMs, last_error: health.lastError },
          )
          .returning('id')
          .execute();
        if (changed.length === 0 || deliveries.length === 0) return;
        await transaction
          .insertInto('sandbox_webhook_delivery')
          .values(deliveries.map((delivery) => toDeliveryRow(id, delivery)))
          .onConflict((conflict) =>
            conflict.columns(['webhook_id', 'sequence']).doUpdateSet((set) => ({
              state: set.ref('excluded.state'),
              attempts: set.ref('excluded.attempts'),
              next_attempt_at_ms: set.ref('excluded.next_attempt_at_ms'),
              attempted_at: set.ref('excluded.attempted_at'),
              status: set.ref('excluded.status'),
              error: set.ref('excluded.error'),
            })),
          )
          .execute();
      });
    },

    async deliveries(id, below, limit) {
      const query = ofWebhook(id).orderBy('sequence', 'desc').limit(limit);
      const rows = await (below === null ? query : query.where('sequence', '<', below)).execute();
      return rows.map(fromDeliveryRow);
    },

    async findDelivery(id, sequence) {
      const row = await ofWebhook(id).where('sequence', '=', sequence).executeTakeFirst();
      return row === undefined ? null : fromDeliveryRow(row);
    },
  };
}

function toRow(webhook: SandboxWebhook, { wrapper, text }: WrappedKey): WebhookRow {
  return {
    id: webhook.id,
    workspace_uuid: webhook.workspaceUuid,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events === null ? null : JSON.stringify(webhook.events),
    enabled: webhook.enabled ? 1 : 0,
    disabled_reason: webhook.disabledReason,
    wrapper,
    box: text,
    creator_id: webhook.creatorId,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
    position: webhook.position,
    failing_since_ms: webhook.failingSinceMs,
    last_error: webhook.lastError,
    missed: webhook.missed,
    lease_holder: null,
    lease_until_ms: 0,
  };
}

function fromRow(row: WebhookRow): SandboxWebhook {
  return {
    id: row.id,
    workspaceUuid: row.workspace_uuid,
    url: row.url,
    description: row.description,
    events: row.events === null ? null : (JSON.parse(row.events) as SandboxEventType[]), // as written by toRow
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    creatorId: row.creator_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: Number(row.position),
    failingSinceMs: row.failing_since_ms === null ? null : Number(row.failing_since_ms),
    lastError: row.last_error,
    missed: Number(row.missed),
  };
}

function toDeliveryRow(webhookId: string, delivery: WebhookDelivery): WebhookDeliveryRow {
  return {
    webhook_id: webhookId,
    sequence: delivery.sequence,
    sandbox_id: delivery.sandboxId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at_ms: delivery.nextAttemptAtMs,
    attempted_at: delivery.attemptedAt,
    status: delivery.status,
    error: delivery.error,
  };
}

function fromDeliveryRow(row: WebhookDeliveryRow): WebhookDelivery {
  return {
    sequence: Number(row.sequence),
    sandboxId: row.sandbox_id,
    type: EVENT_TYPES.find((each) => each === row.type) ?? 'error',
    state: row.state as DeliveryState, // as written by toDeliveryRow
    attempts: row.attempts,
    nextAttemptAtMs: Number(row.next_attempt_at_ms),
    attemptedAt: row.attempted_at,
    status: row.status,
    error: row.error,
  };
}
