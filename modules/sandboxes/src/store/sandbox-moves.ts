import type { Limits } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import { databaseTime, type Database } from '@svc/sql';
import { sql, type Kysely, type Transaction } from 'kysely';
import { POD_FORMAT } from '../domain/clusters/pod-capabilities.ts';
import { clusterDriverName } from '../domain/clusters/sandbox-cluster.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import { MOVING } from '../domain/nodes/drain-state.ts';
import {
  LOST,
  POD_LOST,
  type MovableSandbox,
  type RestoreAttempts,
  type SandboxMoves,
} from '../domain/nodes/sandbox-moves.ts';
import { ARCHIVED } from './archive-removals.ts';
import { writeEvents } from './event-log.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { activeDemand } from './sandbox-repository.ts';
import { fromRow } from './sandbox-row.ts';
import type { SandboxRow, SandboxTables } from './tables.ts';
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
      const lost = await candidates(kysely, [driver], format, 'ready')
        .where('node', 'in', [...nodes])
        .where('on_node_lost', '=', 'restore')
        .where('status', '=', 'error')
        .where('error_code', '=', LOST)
        .where('error_recoverable', '=', 1)
        .limit(limit)
        .execute();
      return withSnapshots(kysely, lost, format, 'ready');
    },

    async leftByDrains(node, driver, format, limit) {
      const left = await candidates(kysely, [driver], format, 'move')
        .where('node', '!=', node)
        .where('status', '=', 'stopped')
        .where('state_reason', '=', MOVING)
        .limit(limit)
        .execute();
      return withSnapshots(kysely, left, format, 'move');
    },

    async move(movable, to, limits, silentMs) {
      const { node, status } = movable.sandbox;
      // A drained node has left the sandbox itself; a lost one may return at any time.
      const fence = status === 'stopped' ? { node } : { node, unlessReported: databaseTime(dialect, -silentMs) };
      try {
        return await kysely.transaction().execute((transaction) => {
          return move(transaction, movable, to, limits, { fence, now: databaseTime(dialect), at: clock.now() });
        });
      } catch (error) {
        if (error instanceof NotMoved) return { sandbox: null };
        throw error;
      }
    },

    async lostInClusters(node, clusterIds, limit) {
      if (clusterIds.length === 0) return [];
      const lost = await candidates(kysely, clusterIds.map(clusterDriverName), POD_FORMAT, 'ready')
        .where('node', '=', node)
        .where('on_node_lost', '=', 'restore')
        .where('status', '=', 'error')
        .where('error_code', 'in', POD_LOST)
        .leftJoin('sandbox_restore as restore', 'restore.sandbox_id', 'sandbox.id')
        .select(['restore.restores', 'restore.refusals'])
        .where(({ eb, or }) =>
          or([eb('restore.sandbox_id', 'is', null), eb('restore.next_attempt_at', '<=', clock.now().toISOString())]),
        )
        .limit(limit)
        .execute();
      const attempts = new Map(lost.map(({ id, restores, refusals }) => [id, { restores, refusals }]));
      return (await withSnapshots(kysely, lost, POD_FORMAT, 'ready')).map((movable) => {
        const { restores = null, refusals = null } = attempts.get(movable.sandbox.id) ?? {};
        return { ...movable, restores: restores ?? 0, refusals: refusals ?? 0 };
      });
    },

    recreate: (lost, attempts, nextAttemptAt, limits) =>
      kysely
        .transaction()
        .execute((transaction) => recreate(transaction, lost, { attempts, nextAttemptAt, limits, at: clock.now() }))
        .catch((error: unknown) => {
          if (error instanceof NotMoved) return { sandbox: null };
          throw error;
        }),

    noteRefusal: (id, attempts, nextAttemptAt) =>
      kysely.transaction().execute((transaction) => noteAttempt(transaction, id, attempts, nextAttemptAt)),

    abandon: ({ sandbox: { id, node } }, fault) =>
      kysely.transaction().execute(async (transaction) => {
        if (!(await hasLostPod(transaction, id))) return null;
        const change = { status: 'error', stateReason: fault.code, fault } as const;
        const left = await updateSandbox(transaction, id, ['error'], change, { node });
        if (left === null) return null;
        await transaction.deleteFrom('sandbox_restore').where('sandbox_id', '=', id).execute();
        await recordChange(transaction, change, left, clock.now());
        return left;
      }),

    async leftBehind(node) {
      const rows = await kysely.selectFrom('sandbox_move').select('sandbox_id').where('from_node', '=', node).execute();
      return rows.map((row) => row.sandbox_id);
    },

    async forget(id, node) {
      await kysely.deleteFrom('sandbox_move').where('sandbox_id', '=', id).where('from_node', '=', node).execute();
    },
  };
}

type ArchivedState = (typeof ARCHIVED)[number];

/** Sandboxes with an archived snapshot of this kind. */
function candidates(kysely: Kysely<SandboxTables>, drivers: readonly string[], format: string, state: ArchivedState) {
  return kysely
    .selectFrom('sandbox')
    .selectAll('sandbox')
    .where('driver', 'in', [...drivers])
    .where('removed_at', 'is', null)
    .where(({ exists }) =>
      exists(archivedSnapshots(kysely, format, state).where('snapshot.sandbox_id', '=', sql.ref<string>('sandbox.id'))),
    )
    .orderBy(sql`row_number() over (partition by workspace_uuid order by random())`)
    .orderBy(sql`random()`);
}

function archivedSnapshots(kysely: Kysely<SandboxTables>, format: string, state: ArchivedState) {
  return kysely
    .selectFrom('sandbox_snapshot as snapshot')
    .innerJoin('sandbox_archive as archive', 'archive.snapshot_id', 'snapshot.id')
    .select(['snapshot.id', 'snapshot.created_at'])
    .where('snapshot.state', '=', state)
    .where('archive.state', '=', 'ready')
    .where('archive.format', '=', format);
}

async function withSnapshots(
  kysely: Kysely<SandboxTables>,
  rows: readonly SandboxRow[],
  format: string,
  state: ArchivedState,
): Promise<MovableSandbox[]> {
  const found: MovableSandbox[] = [];
  for (const row of rows) {
    const newest = await archivedSnapshots(kysely, format, state)
      .where('snapshot.sandbox_id', '=', row.id)
      .where('snapshot.workspace_uuid', '=', row.workspace_uuid)
      .orderBy('snapshot.created_at', 'desc')
      .executeTakeFirst();
    if (newest === undefined) continue;
    found.push({ sandbox: fromRow(row), snapshotId: newest.id, snapshotCreatedAt: newest.created_at });
  }
  return found;
}

async function move(
  transaction: Transaction<SandboxTables>,
  { sandbox, snapshotId, snapshotCreatedAt }: MovableSandbox,
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
  await assertMovable(transaction, sandbox);
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
  const moved = await updateSandbox(transaction, id, [sandbox.status], { ...creating, node: to, snapshotId }, fence);
  if (moved === null) throw new NotMoved();
  await transaction
    .insertInto('sandbox_move')
    .values({ sandbox_id: id, from_node: from, moved_at: now })
    .onConflict((conflict) => conflict.columns(['sandbox_id', 'from_node']).doUpdateSet({ moved_at: now }))
    .execute();
  const details = { snapshot_id: snapshotId, snapshot_created_at: snapshotCreatedAt, from_node: from, node: to };
  const place = { ...placeOf(moved), at: at.toISOString() };
  await writeEvents(transaction, [{ type: sandbox.status === 'stopped' ? 'moved' : 'restored', details, ...place }]);
  return { sandbox: moved };
}

async function recreate(
  transaction: Transaction<SandboxTables>,
  { sandbox, snapshotId, snapshotCreatedAt }: MovableSandbox,
  {
    attempts,
    nextAttemptAt,
    limits,
    at,
  }: {
    readonly attempts: RestoreAttempts;
    readonly nextAttemptAt: Date;
    readonly limits: Limits;
    readonly at: Date;
  },
) {
  const { id, node } = sandbox;
  await enterGate(transaction, limits);
  const breach = await breachIn(transaction, limits, activeDemand(sandbox.resources));
  if (breach !== null) return { breach };
  await assertUsable(transaction, snapshotId);
  if (!(await hasLostPod(transaction, id))) throw new NotMoved();
  const creating = { status: 'creating', stateReason: null, fault: null, startedAt: null, snapshotId } as const;
  const change = { ...creating, lastActivityAt: at.toISOString() };
  const recreated = await updateSandbox(transaction, id, ['error'], change, { node });
  if (recreated === null) throw new NotMoved();
  await noteAttempt(transaction, id, attempts, nextAttemptAt);
  const details = { snapshot_id: snapshotId, snapshot_created_at: snapshotCreatedAt, from_node: node, node };
  await writeEvents(transaction, [{ type: 'restored', details, ...placeOf(recreated), at: at.toISOString() }]);
  return { sandbox: recreated };
}

async function noteAttempt(
  transaction: Transaction<SandboxTables>,
  id: string,
  { restores, refusals }: RestoreAttempts,
  nextAttemptAt: Date,
): Promise<void> {
  const noted = { restores, refusals, next_attempt_at: nextAttemptAt.toISOString() };
  await transaction
    .insertInto('sandbox_restore')
    .values({ sandbox_id: id, ...noted })
    .onConflict((conflict) => conflict.column('sandbox_id').doUpdateSet(noted))
    .execute();
}

async function hasLostPod(transaction: Transaction<SandboxTables>, id: string): Promise<boolean> {
  const query = transaction.selectFrom('sandbox').select('id').where('id', '=', id);
  return (await query.where('error_code', 'in', POD_LOST).executeTakeFirst()) !== undefined;
}

/** Locks the snapshot, so that its removal comes after this transaction and finds that a sandbox waits for it. */
async function assertUsable(transaction: Transaction<SandboxTables>, snapshotId: string): Promise<void> {
  const usable = await transaction
    .updateTable('sandbox_snapshot')
    .set((column) => ({ archived_at: column.ref('archived_at') }))
    .where('id', '=', snapshotId)
    .where('state', 'in', ARCHIVED)
    .where('archived_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (usable === undefined) throw new NotMoved();
}

/** A node that returned may have found another fault since, or a user may have started the sandbox and stopped it. */
async function assertMovable(transaction: Transaction<SandboxTables>, { id, status }: Sandbox): Promise<void> {
  const query = transaction.selectFrom('sandbox').select('id').where('id', '=', id);
  const row = await (
    status === 'stopped'
      ? query.where('state_reason', '=', MOVING)
      : query.where('error_code', '=', LOST).where('error_recoverable', '=', 1)
  ).executeTakeFirst();
  if (row === undefined) throw new NotMoved();
}
