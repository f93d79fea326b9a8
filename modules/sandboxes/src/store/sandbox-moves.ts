import type { Limits } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import { databaseTime, type Database } from '@svc/sql';
import type { Transaction } from 'kysely';
import { LOST } from '../domain/lost-nodes.ts';
import type { LostSandbox, SandboxMoves } from '../domain/nodes/sandbox-moves.ts';
import { writeEvents } from './event-log.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { activeDemand } from './sandbox-repository.ts';
import { fromRow } from './sandbox-row.ts';
import type { SandboxTables } from './tables.ts';
import { placeOf, recordChange, updateSandbox } from './update-sandbox.ts';

/** Undoes the transaction. */
class NotMoved extends Error {}

export function createSandboxMoves(
  { kysely, dialect }: Database<SandboxTables>,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): SandboxMoves {
  return {
    markLost: (id, node, fault, silentMs) =>
      kysely.transaction().execute(async (transaction) => {
        const change = { status: 'error', stateReason: fault.code, fault } as const;
        const fence = { node, unlessReported: databaseTime(dialect, -silentMs) };
        const lost = await updateSandbox(transaction, id, ['creating', 'running'], change, fence);
        if (lost !== null) await recordChange(transaction, change, lost, clock.now());
        return lost;
      }),

    async restorable(nodes, driver, format, limit) {
      if (nodes.length === 0) return [];
      const rows = await kysely
        .selectFrom('sandbox')
        .selectAll()
        .where('node', 'in', [...nodes])
        .where('driver', '=', driver)
        .where('on_node_lost', '=', 'restore')
        .where('status', '=', 'error')
        .where('error_code', '=', LOST)
        .where('error_recoverable', '=', 1)
        .where('removed_at', 'is', null)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('sandbox_snapshot as snapshot')
              .innerJoin('sandbox_archive as archive', 'archive.snapshot_id', 'snapshot.id')
              .select('snapshot.id')
              .whereRef('snapshot.sandbox_id', '=', 'sandbox.id')
              .where('snapshot.state', '=', 'ready')
              .where('archive.state', '=', 'ready')
              .where('archive.format', '=', format),
          ),
        )
        .orderBy('created_at')
        .limit(limit)
        .execute();
      const found: LostSandbox[] = [];
      for (const row of rows) {
        const snapshot = await kysely
          .selectFrom('sandbox_snapshot as snapshot')
          .innerJoin('sandbox_archive as archive', 'archive.snapshot_id', 'snapshot.id')
          .select(['snapshot.id', 'snapshot.created_at'])
          .where('snapshot.sandbox_id', '=', row.id)
          .where('snapshot.workspace_uuid', '=', row.workspace_uuid)
          .where('snapshot.state', '=', 'ready')
          .where('archive.state', '=', 'ready')
          .where('archive.format', '=', format)
          .orderBy('snapshot.created_at', 'desc')
          .executeTakeFirst();
        if (snapshot === undefined) continue;
        found.push({ sandbox: fromRow(row), snapshotId: snapshot.id, snapshotCreatedAt: snapshot.created_at });
      }
      return found;
    },

    async move(lost, to, limits, silentMs) {
      try {
        return await kysely.transaction().execute(async (transaction) => {
          const fence = { node: lost.sandbox.node, unlessReported: databaseTime(dialect, -silentMs) };
          return move(transaction, lost, to, limits, { fence, now: databaseTime(dialect), at: clock.now() });
        });
      } catch (error) {
        if (error instanceof NotMoved) return { sandbox: null };
        throw error;
      }
    },

    async leftBehind(node) {
      const rows = await kysely.selectFrom('sandbox_move').select('sandbox_id').where('from_node', '=', node).execute();
      return rows.map((row) => row.sandbox_id);
    },

    async forget(id, node) {
      await kysely.deleteFrom('sandbox_move').where('sandbox_id', '=', id).where('from_node', '=', node).execute();
    },
  };
}

async function move(
  transaction: Transaction<SandboxTables>,
  { sandbox, snapshotId, snapshotCreatedAt }: LostSandbox,
  to: string,
  limits: Limits,
  {
    fence,
    now,
    at,
  }: {
    readonly fence: NonNullable<Parameters<typeof updateSandbox>[4]>;
    readonly now: ReturnType<typeof databaseTime>;
    readonly at: Date;
  },
) {
  const { id, node: from } = sandbox;
  await enterGate(transaction, limits);
  const breach = await breachIn(transaction, limits, activeDemand(sandbox.resources));
  if (breach !== null) return { breach };
  await assertUsable(transaction, snapshotId);
  await assertLost(transaction, id);
  // What this node has of an earlier life of the sandbox would count as its files.
  const left = await transaction
    .selectFrom('sandbox_move')
    .select('sandbox_id')
    .where('sandbox_id', '=', id)
    .where('from_node', '=', to)
    .executeTakeFirst();
  if (left !== undefined) throw new NotMoved();
  const lastActivityAt = at.toISOString();
  const creating = { status: 'creating', stateReason: null, fault: null, startedAt: null, lastActivityAt } as const;
  const moved = await updateSandbox(transaction, id, ['error'], { ...creating, node: to, snapshotId }, fence);
  if (moved === null) throw new NotMoved();
  await transaction
    .insertInto('sandbox_move')
    .values({ sandbox_id: id, from_node: from, moved_at: now })
    .onConflict((conflict) => conflict.columns(['sandbox_id', 'from_node']).doUpdateSet({ moved_at: now }))
    .execute();
  const details = { snapshot_id: snapshotId, snapshot_created_at: snapshotCreatedAt, from_node: from, node: to };
  const place = { ...placeOf(moved), at: at.toISOString() };
  await writeEvents(transaction, [{ type: 'restored', details, ...place }]);
  return { sandbox: moved };
}

/** Locks the snapshot, so that its removal comes after this transaction and finds that a sandbox waits for it. */
async function assertUsable(transaction: Transaction<SandboxTables>, snapshotId: string): Promise<void> {
  const usable = await transaction
    .updateTable('sandbox_snapshot')
    .set((column) => ({ archived_at: column.ref('archived_at') }))
    .where('id', '=', snapshotId)
    .where('state', '=', 'ready')
    .where('archived_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (usable === undefined) throw new NotMoved();
}

/** A node that returned may have found another fault since. */
async function assertLost(transaction: Transaction<SandboxTables>, id: string): Promise<void> {
  const row = await transaction
    .selectFrom('sandbox')
    .select('id')
    .where('id', '=', id)
    .where('error_code', '=', LOST)
    .where('error_recoverable', '=', 1)
    .executeTakeFirst();
  if (row === undefined) throw new NotMoved();
}
