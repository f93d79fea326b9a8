import { publishEvents } from '@svc/sql';
import { sql } from 'kysely';
import {
  OPEN_STATES,
  isFinished,
  type ClaimOutcome,
  type Command,
  type CommandOutcome,
  type CommandReceiver,
  type CommandState,
  type CommandStore,
} from '../domain/command.ts';
import { pageOf } from '@svc/runtime';
import type { PageRequest } from '../domain/paging.ts';
import { CLUSTER_CHANNELS } from './channels.ts';
import { addNote, appendNote, readNotes } from './command-notes.ts';
import { COMMAND_COLUMNS, toCommand } from './command-rows.ts';
import { findReplay, submitCommand } from './command-submit.ts';
import type { ClusterDatabase } from './tables.ts';

export function createCommandStore(database: ClusterDatabase): CommandStore {
  return {
    submit: (submission) => submitCommand(database, submission),
    replay: (clusterId, idempotency) => findReplay(database, clusterId, idempotency),
    find: async (clusterId, id) => {
      const row = await database
        .selectFrom('cluster_command')
        .select(COMMAND_COLUMNS)
        .where('cluster_id', '=', clusterId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : toCommand(row);
    },
    payload: async (id) => {
      const row = await database
        .selectFrom('cluster_command')
        .select('payload')
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : (JSON.parse(row.payload) as Record<string, unknown>); // from `submit`
    },
    list: (clusterId, page) => listCommands(database, clusterId, page),
    open: (clusterId, states, limit) => openCommands(database, clusterId, states, limit),
    waitingClusters: async (limit) => {
      const rows = await database
        .selectFrom('cluster_command')
        .select('cluster_id')
        .distinct()
        .where('state', '=', 'queued')
        .limit(limit)
        .execute();
      return rows.map((row) => row.cluster_id);
    },
    cancelling: async (limit) => {
      const rows = await database
        .selectFrom('cluster_command')
        .select(['cluster_id', 'id'])
        .where('state', 'in', ['dispatched', 'running'])
        .where('cancel_requested_at', 'is not', null)
        .limit(limit)
        .execute();
      return rows.map((row) => ({ clusterId: row.cluster_id, id: row.id }));
    },
    claim: (id, receiver, at, deadlineAt) => claim(database, id, receiver, at, deadlineAt),
    reclaim: (id, receiver, at, deadlineAt) => reclaim(database, id, receiver, at, deadlineAt),
    acknowledge: (clusterId, id, running, at) => acknowledge(database, clusterId, id, running, at),
    note: (clusterId, id, draft, at, limits) => addNote(database, clusterId, id, draft, at, limits),
    finish: (clusterId, id, outcome, at) => finish(database, clusterId, id, outcome, at),
    requestCancel: (clusterId, id, at) => requestCancel(database, clusterId, id, at),
    overdue: async (now, limit) => {
      const rows = await database
        .selectFrom('cluster_command')
        .select(COMMAND_COLUMNS)
        .where('state', 'in', OPEN_STATES)
        .where('deadline_at', '<=', now)
        .limit(limit)
        .execute();
      return rows.map(toCommand);
    },
    postpone: async (id, deadlineAt) => {
      await database.updateTable('cluster_command').set({ deadline_at: deadlineAt }).where('id', '=', id).execute();
    },
    notes: (commandId, afterSequence, limit) => readNotes(database, commandId, afterSequence, limit),
    prune: (before, keep) => pruneCommands(database, before, keep),
  };
}

async function openCommands(
  database: ClusterDatabase,
  clusterId: string,
  states: readonly CommandState[],
  limit: number,
): Promise<Command[]> {
  const rows = await database
    .selectFrom('cluster_command')
    .select(COMMAND_COLUMNS)
    .where('cluster_id', '=', clusterId)
    .where('state', 'in', states)
    // Few commands are open. Sorting by the column itself would make SQLite read all finished ones in index order.
    .orderBy(sql`created_at || ''`)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toCommand);
}

async function reclaim(
  database: ClusterDatabase,
  id: string,
  receiver: CommandReceiver,
  at: string,
  deadlineAt: string,
): Promise<boolean> {
  if (!(await isNewest(database, receiver))) return false;
  const { numUpdatedRows } = await database
    .updateTable('cluster_command')
    .set((columns) => ({
      sent_at: at,
      sent_instance_id: receiver.instanceId,
      sent_outbox_id: receiver.outboxId,
      deadline_at: deadlineAt,
      sent_count: columns('sent_count', '+', 1),
    }))
    .where('id', '=', id)
    .where('state', 'in', ['dispatched', 'running'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function listCommands(database: ClusterDatabase, clusterId: string, page: PageRequest) {
  let query = database.selectFrom('cluster_command').select(COMMAND_COLUMNS).where('cluster_id', '=', clusterId);
  const [createdAt, id] = page.after ?? [];
  if (createdAt !== undefined && id !== undefined) {
    query = query.where((where) =>
      where.or([
        where('created_at', '<', createdAt),
        where.and([where('created_at', '=', createdAt), where('id', '<', id)]),
      ]),
    );
  }
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute();
  return pageOf(rows.map(toCommand), page.limit, (last) => [last.createdAt, last.id]);
}

function claim(database: ClusterDatabase, id: string, receiver: CommandReceiver, at: string, deadlineAt: string) {
  return database.transaction().execute(async (transaction): Promise<ClaimOutcome> => {
    if (!(await isNewest(transaction, receiver))) return 'superseded';
    const { numUpdatedRows } = await transaction
      .updateTable('cluster_command')
      .set({
        state: 'dispatched',
        sent_at: at,
        sent_instance_id: receiver.instanceId,
        sent_outbox_id: receiver.outboxId,
        sent_count: 1,
        deadline_at: deadlineAt,
      })
      .where('id', '=', id)
      .where('state', '=', 'queued')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return 'gone';
    await appendNote(transaction, id, 'state', { state: 'dispatched' }, at);
    return 'claimed';
  });
}

/** A replica that was paused may still hold the connection that its agent replaced. */
async function isNewest(database: ClusterDatabase, { clusterId, epoch }: CommandReceiver): Promise<boolean> {
  const row = await database
    .selectFrom('cluster')
    .select('connection_epoch')
    .where('id', '=', clusterId)
    .executeTakeFirst();
  return row?.connection_epoch === epoch;
}

function acknowledge(database: ClusterDatabase, clusterId: string, id: string, running: boolean, at: string) {
  return database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('cluster_command')
      .set({ acknowledged_at: at, ...(running ? { state: 'running' } : {}) })
      .where('id', '=', id)
      .where('cluster_id', '=', clusterId)
      .where('state', '=', 'dispatched')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (running) await appendNote(transaction, id, 'state', { state: 'running' }, at);
    return true;
  });
}

function finish(database: ClusterDatabase, clusterId: string, id: string, outcome: CommandOutcome, at: string) {
  return database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('cluster_command')
      .set({
        state: outcome.status,
        finished_at: at,
        result: outcome.result === null ? null : JSON.stringify(outcome.result),
        error: outcome.error === null ? null : JSON.stringify(outcome.error),
      })
      .where('id', '=', id)
      .where('cluster_id', '=', clusterId)
      .where('state', 'in', OPEN_STATES)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await appendNote(transaction, id, 'result', { status: outcome.status }, at);
    return true;
  });
}

function requestCancel(database: ClusterDatabase, clusterId: string, id: string, at: string) {
  return database.transaction().execute(async (transaction): Promise<CommandState | undefined> => {
    const row = await transaction
      .selectFrom('cluster_command')
      .select('state')
      .where('id', '=', id)
      .where('cluster_id', '=', clusterId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const state = row.state as CommandState; // only these stores write the column
    if (isFinished(state)) return state;
    const error = { code: 'CANCELLED', message: 'Cancelled before it was sent' };
    const cancelled = await transaction
      .updateTable('cluster_command')
      .set({ state: 'cancelled', cancel_requested_at: at, finished_at: at, error: JSON.stringify(error) })
      .where('id', '=', id)
      .where('state', '=', 'queued')
      .executeTakeFirst();
    if (cancelled.numUpdatedRows > 0n) {
      await appendNote(transaction, id, 'result', { status: 'cancelled' }, at);
      return 'cancelled';
    }
    await transaction
      .updateTable('cluster_command')
      .set({ cancel_requested_at: at })
      .where('id', '=', id)
      .where('state', 'in', ['dispatched', 'running'])
      .execute();
    await publishEvents(transaction, CLUSTER_CHANNELS.command, [id]);
    await publishEvents(transaction, CLUSTER_CHANNELS.cancel, [`${clusterId}/${id}`]);
    return state;
  });
}

/** Prunes crowded clusters in one statement each. Deleting a command also deletes its notes and deployment. */
async function pruneCommands(database: ClusterDatabase, before: string, keep: number): Promise<void> {
  await database
    .deleteFrom('cluster_command')
    .where('state', 'not in', OPEN_STATES)
    .where('finished_at', '<', before)
    .execute();
  const crowded = await database
    .selectFrom('cluster_command')
    .select('cluster_id')
    .groupBy('cluster_id')
    .having((having) => having.fn.countAll(), '>', keep)
    .execute();
  for (const { cluster_id: clusterId } of crowded) {
    const oldestKept = await database
      .selectFrom('cluster_command')
      .select('created_at')
      .where('cluster_id', '=', clusterId)
      .orderBy('created_at', 'desc')
      .offset(keep - 1)
      .limit(1)
      .executeTakeFirst();
    if (oldestKept === undefined) continue;
    await database
      .deleteFrom('cluster_command')
      .where('cluster_id', '=', clusterId)
      .where('state', 'not in', OPEN_STATES)
      .where('created_at', '<', oldestKept.created_at)
      .execute();
  }
}
