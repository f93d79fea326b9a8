import type { Kysely, Transaction } from 'kysely';
import type { Admission, QuotaRefusal } from '../domain/admission.ts';
import { sandboxQuotas } from '../quotas.ts';
import type {
  FinishedState,
  Snapshot,
  SnapshotFilter,
  SnapshotPage,
  SnapshotRepository,
  SnapshotState,
} from '../domain/snapshots/snapshot.ts';
import { pageCursor, parseCursor } from './page-cursor.ts';
import { waitingSandboxes } from './archive-removals.ts';
import { writeEvents } from './event-log.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { parseRules, parseTemplate, rulesColumn, templateColumn } from './sandbox-row.ts';
import type { RepositoryDeps } from './sandbox-repository.ts';
import type { SandboxTables, SnapshotRow } from './tables.ts';

export function createSnapshotRepository(kysely: Kysely<SandboxTables>, deps: RepositoryDeps): SnapshotRepository {
  return {
    insert: (snapshot, admission, isListed) =>
      kysely.transaction().execute((transaction) => insert(transaction, snapshot, admission, isListed)),

    finish: (id, state, sizeBytes) =>
      kysely.transaction().execute((transaction) => finish(transaction, deps, id, state, sizeBytes)),

    async find(id) {
      const query = kysely.selectFrom('sandbox_snapshot').selectAll().where('id', '=', id).where('state', '=', 'ready');
      const row = await query.executeTakeFirst();
      return row === undefined ? null : snapshotFromRow(row);
    },

    list: (workspaceUuid, filter) => list(kysely, workspaceUuid, filter),

    async remove(id) {
      const query = kysely.updateTable('sandbox_snapshot').set({ state: 'removed' });
      const row = await query.where('id', '=', id).where('state', '!=', 'removed').returning('id').executeTakeFirst();
      return row !== undefined;
    },

    async purge(id) {
      await kysely.deleteFrom('sandbox_snapshot').where('id', '=', id).where('state', '=', 'removed').execute();
    },

    async ofNode(node, states) {
      const query = kysely.selectFrom('sandbox_snapshot').selectAll().where('node', '=', node);
      return (await query.where('state', 'in', [...states]).execute()).map(snapshotFromRow);
    },

    async forMove(sandboxId, node) {
      const query = kysely.selectFrom('sandbox_snapshot').selectAll().where('sandbox_id', '=', sandboxId);
      return (await query.where('node', '=', node).where('state', '=', 'move').execute()).map(snapshotFromRow);
    },

    async awaitedBy(id) {
      const rows = await waitingSandboxes(kysely).select('sandbox.id').where('snapshot_id', '=', id).execute();
      return rows.map((row) => row.id);
    },
  };
}

async function insert(
  transaction: Transaction<SandboxTables>,
  snapshot: Snapshot,
  { accountableId, callerLimit, limits }: Admission,
  isListed: boolean,
): Promise<QuotaRefusal | null> {
  await enterGate(transaction, limits, accountableId);
  if (callerLimit !== null) {
    const current = await countSnapshots(transaction, accountableId);
    if (current >= callerLimit) return { by: 'caller', current };
  }
  const { snapshots, sandbox_disk: disk } = sandboxQuotas;
  const demand = [...(isListed ? [[snapshots, 1] as const] : []), [disk, snapshot.diskMb] as const];
  const breach = await breachIn(transaction, limits, demand);
  if (breach !== null) return { by: 'quota', breach };
  await transaction.insertInto('sandbox_snapshot').values(toRow(snapshot, accountableId)).execute();
  return null;
}

async function countSnapshots(transaction: Transaction<SandboxTables>, accountableId: string): Promise<number> {
  const row = await transaction
    .selectFrom('sandbox_snapshot')
    .select((select) => select.fn.countAll().as('rows'))
    .where('accountable_id', '=', accountableId)
    .where('state', 'in', ['making', 'ready'])
    .executeTakeFirst();
  return Number(row?.rows ?? 0);
}

async function finish(
  transaction: Transaction<SandboxTables>,
  deps: RepositoryDeps,
  id: string,
  state: FinishedState,
  sizeBytes: number,
): Promise<Snapshot | null> {
  const row = await transaction
    .updateTable('sandbox_snapshot')
    .set({ state, size_bytes: sizeBytes })
    .where('id', '=', id)
    .where('state', '=', 'making')
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : recordFinished(transaction, deps, row);
}

/** Writes the event of a snapshot that is complete. */
export async function recordFinished(
  transaction: Transaction<SandboxTables>,
  deps: RepositoryDeps,
  row: SnapshotRow,
): Promise<Snapshot> {
  const made = snapshotFromRow(row);
  if (made.state === 'ready') {
    const { id, name, sizeBytes, sandboxId, workspaceUuid } = made;
    const details = { snapshot_id: id, name, size_bytes: sizeBytes };
    const at = deps.clock.now().toISOString();
    await writeEvents(transaction, [{ type: 'snapshot_created', details, sandboxId, workspaceUuid, at }]);
  }
  return made;
}

async function list(
  kysely: Kysely<SandboxTables>,
  workspaceUuid: string,
  { sandboxId, name, pageSize, cursor }: SnapshotFilter,
): Promise<SnapshotPage> {
  let query = kysely
    .selectFrom('sandbox_snapshot')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where('state', '=', 'ready')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(pageSize + 1);
  if (name !== undefined) query = query.where('name', '=', name);
  if (sandboxId !== null) query = query.where('sandbox_id', '=', sandboxId);
  const after = cursor === null ? null : parseCursor(cursor);
  if (after !== null) {
    query = query.where((where) =>
      where.or([
        where('created_at', '<', after.createdAt),
        where.and([where('created_at', '=', after.createdAt), where('id', '<', after.id)]),
      ]),
    );
  }
  const rows = await query.execute();
  const snapshots = rows.slice(0, pageSize).map(snapshotFromRow);
  return { snapshots, nextCursor: rows.length > pageSize ? pageCursor(snapshots.at(-1)) : null };
}

function toRow(snapshot: Snapshot, accountableId: string): SnapshotRow {
  return {
    id: snapshot.id,
    workspace_uuid: snapshot.workspaceUuid,
    owner_id: snapshot.ownerId,
    accountable_id: accountableId,
    node: snapshot.node,
    driver: snapshot.driver,
    name: snapshot.name,
    sandbox_id: snapshot.sandboxId,
    image: snapshot.image,
    disk_mb: snapshot.diskMb,
    size_bytes: snapshot.sizeBytes,
    state: snapshot.state,
    created_at: snapshot.createdAt,
    egress_rules: rulesColumn(snapshot.egressRules),
    archived_at: snapshot.archivedAt,
    archive_bytes: 0,
    archive_error: snapshot.archiveError,
    template: templateColumn(snapshot.template),
  };
}

export function snapshotFromRow(row: SnapshotRow): Snapshot {
  return {
    id: row.id,
    workspaceUuid: row.workspace_uuid,
    ownerId: row.owner_id,
    node: row.node,
    driver: row.driver,
    name: row.name,
    sandboxId: row.sandbox_id,
    image: row.image,
    diskMb: row.disk_mb,
    sizeBytes: row.size_bytes,
    state: row.state as SnapshotState, // only written by toRow and the updates here
    createdAt: row.created_at,
    egressRules: parseRules(row.egress_rules),
    archivedAt: row.archived_at,
    archiveError: row.archive_error,
    template: parseTemplate(row.template),
  };
}
