import { publishEvents } from '@svc/sql';
import type { Kysely, Transaction } from 'kysely';
import type { EventLog, EventRetention, EventScope, LooseEvent } from '../domain/events/event-log.ts';
import { EVENT_TYPES, OLDER_TYPES, type EventDetails, type SandboxEvent } from '../domain/events/sandbox-event.ts';
import { SANDBOX_CHANNEL, sandboxEventId } from './channels.ts';
import type { SandboxTables } from './tables.ts';

export function createEventLog(kysely: Kysely<SandboxTables>): EventLog {
  const selectEvents = ({ workspaceUuid, sandboxId }: EventScope) => {
    const query = kysely.selectFrom('sandbox_event').selectAll().where('workspace_uuid', '=', workspaceUuid);
    return sandboxId === null ? query : query.where('sandbox_id', '=', sandboxId);
  };
  return {
    async append(events) {
      if (events.length === 0) return;
      await kysely.transaction().execute((transaction) => writeEvents(transaction, events));
    },

    async after(scope, sequence, limit) {
      const query = selectEvents(scope).where('sequence', '>', sequence).orderBy('sequence').limit(limit);
      return (await query.execute()).map(fromRow);
    },

    async before(scope, sequence, limit) {
      const query = selectEvents(scope).orderBy('sequence', 'desc').limit(limit);
      const rows = await (sequence === null ? query : query.where('sequence', '<', sequence)).execute();
      return rows.map(fromRow);
    },

    async newest(workspaceUuid) {
      const row = await kysely
        .selectFrom('sandbox_event_counter')
        .select('last_sequence')
        .where('workspace_uuid', '=', workspaceUuid)
        .executeTakeFirst();
      return Number(row?.last_sequence ?? 0);
    },

    async oldest(workspaceUuid) {
      const row = await kysely
        .selectFrom('sandbox_event')
        .select('sequence')
        .where('workspace_uuid', '=', workspaceUuid)
        .orderBy('sequence')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : Number(row.sequence);
    },

    prune: (retention) => prune(kysely, retention),
  };
}

/**
 * Must be the last step of the caller's transaction: the counter's row is locked from here until the commit. Counters
 * are updated in a fixed order of workspaces, so that transactions cannot deadlock.
 */
export async function writeEvents(
  transaction: Transaction<SandboxTables>,
  events: readonly LooseEvent[],
): Promise<void> {
  const workspaces = [...new Set(events.map((event) => event.workspaceUuid))].toSorted();
  for (const workspaceUuid of workspaces) {
    const own = events.filter((event) => event.workspaceUuid === workspaceUuid);
    const { last_sequence: last } = await transaction
      .insertInto('sandbox_event_counter')
      .values({ workspace_uuid: workspaceUuid, last_sequence: own.length })
      .onConflict((conflict) =>
        conflict
          .column('workspace_uuid')
          .doUpdateSet((set) => ({ last_sequence: set('sandbox_event_counter.last_sequence', '+', own.length) })),
      )
      .returning('last_sequence')
      .executeTakeFirstOrThrow();
    const first = Number(last) - own.length + 1;
    const rows = own.map((event, index) => ({
      workspace_uuid: workspaceUuid,
      sequence: first + index,
      sandbox_id: event.sandboxId,
      type: OLDER_TYPES[event.type] ?? event.type,
      newer_type: event.type in OLDER_TYPES ? event.type : null,
      at: event.at,
      details: JSON.stringify(event.details),
    }));
    await transaction.insertInto('sandbox_event').values(rows).execute();
  }
  await publishEvents(transaction, SANDBOX_CHANNEL, [...new Set(events.map(sandboxEventId))]);
}

/** Each delete covers an index range and reads only what it removes. */
async function prune(kysely: Kysely<SandboxTables>, { before, perWorkspace }: EventRetention): Promise<void> {
  await kysely.deleteFrom('sandbox_event').where('at', '<', before).execute();
  const crowded = await kysely
    .selectFrom('sandbox_event_counter')
    .selectAll()
    .where('last_sequence', '>', perWorkspace)
    .execute();
  for (const { workspace_uuid: workspaceUuid, last_sequence: last } of crowded) {
    await kysely
      .deleteFrom('sandbox_event')
      .where('workspace_uuid', '=', workspaceUuid)
      .where('sequence', '<=', Number(last) - perWorkspace)
      .execute();
  }
}

function fromRow(row: SandboxTables['sandbox_event']): SandboxEvent {
  // A type of a version that is newer than this one stands for the one in `type`.
  const known = (name: string | null) => EVENT_TYPES.find((each) => each === name);
  const type = known(row.newer_type) ?? known(row.type);
  if (type === undefined) throw new Error(`an event of the unknown type ${row.type} is kept`);
  return {
    workspaceUuid: row.workspace_uuid,
    sequence: Number(row.sequence),
    sandboxId: row.sandbox_id,
    type,
    at: row.at,
    details: JSON.parse(row.details) as EventDetails, // as written by writeEvents
  };
}
