import type { Limits } from '@svc/quotas';
import { violatesUnique } from '@svc/sql';
import type { Kysely, Transaction } from 'kysely';
import { quotaExceeded } from '../domain/admission.ts';
import type { VolumeMounter } from '../domain/ports.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import type {
  Volume,
  VolumeFilter,
  VolumeKind,
  VolumePage,
  VolumeRepository,
  VolumeState,
} from '../domain/volumes/volume.ts';
import { sandboxErrors } from '../errors.ts';
import { sandboxQuotas } from '../quotas.ts';
import { pageCursor, parseCursor } from './page-cursor.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { VOLUME_NAME, type SandboxTables, type VolumeRow } from './tables.ts';

const COMPLETE: readonly VolumeState[] = ['ready', 'resizing'];

export function createVolumeRepository(kysely: Kysely<SandboxTables>): VolumeRepository {
  const complete = () =>
    kysely
      .selectFrom('sandbox_volume')
      .selectAll()
      .where('state', 'in', [...COMPLETE]);
  const change = async (id: string, from: VolumeState, to: Partial<VolumeRow>): Promise<Volume | null> => {
    const query = kysely.updateTable('sandbox_volume').set(to).where('id', '=', id).where('state', '=', from);
    const row = await query.returningAll().executeTakeFirst();
    return row === undefined ? null : fromRow(row);
  };
  return {
    insert: (volume, limits) => kysely.transaction().execute((transaction) => insert(transaction, volume, limits)),
    finish: (id, sizeBytes) => change(id, 'making', { state: 'ready', size_bytes: sizeBytes }),

    async find(workspaceUuid, name) {
      const query = complete().where('workspace_uuid', '=', workspaceUuid).where('taken_name', '=', name);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async findById(id) {
      const row = await complete().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    list: (workspaceUuid, filter) => list(kysely, workspaceUuid, filter),

    resize: (id, sizeMb, limits) =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const query = transaction.selectFrom('sandbox_volume').selectAll();
        const row = await query.where('id', '=', id).where('state', '=', 'ready').executeTakeFirst();
        if (row === undefined) return { volume: null };
        const added = Math.max(0, sizeMb - row.size_mb);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.sandbox_disk, added]]);
        if (breach !== null) return { breach };
        const changed = { size_mb: sizeMb, state: 'resizing' };
        await transaction.updateTable('sandbox_volume').set(changed).where('id', '=', id).execute();
        return { volume: fromRow({ ...row, ...changed }) };
      }),

    endResize: (id, sizeMb) => change(id, 'resizing', { size_mb: sizeMb, state: 'ready' }),

    remove: (volume, limits) => kysely.transaction().execute((transaction) => remove(transaction, volume, limits)),

    async purge(id) {
      await kysely.deleteFrom('sandbox_volume').where('id', '=', id).where('state', '=', 'removed').execute();
    },

    async ofNode(node, states) {
      const query = kysely.selectFrom('sandbox_volume').selectAll().where('node', '=', node);
      return (await query.where('state', 'in', [...states]).execute()).map(fromRow);
    },

    async count(workspaceUuid) {
      const { count } = await kysely
        .selectFrom('sandbox_volume')
        .where('workspace_uuid', '=', workspaceUuid)
        .where('state', '!=', 'removed')
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

async function insert(transaction: Transaction<SandboxTables>, volume: Volume, limits: Limits): Promise<void> {
  await enterGate(transaction, limits);
  const { volumes, snapshots, sandbox_disk: disk } = sandboxQuotas;
  const counted = volume.kind === 'volume' ? volumes : snapshots;
  const breach = await breachIn(transaction, limits, [
    [counted, 1],
    [disk, volume.sizeMb],
  ]);
  if (breach !== null) throw quotaExceeded(breach);
  await transaction
    .insertInto('sandbox_volume')
    .values(toRow(volume))
    .execute()
    .catch((error: unknown) => {
      if (!violatesUnique(error, VOLUME_NAME)) throw error;
      throw sandboxErrors.VOLUME_EXISTS({ details: { field: 'name', name: volume.name }, cause: error });
    });
}

/** Behind the gate, so that no sandbox mounts it meanwhile. */
async function remove(transaction: Transaction<SandboxTables>, { id, name }: Volume, limits: Limits): Promise<boolean> {
  await enterGate(transaction, limits);
  const mounter = (await findMounters(transaction, [id])).find(({ isDeleted }) => !isDeleted);
  if (mounter !== undefined) {
    const { sandboxId, sandboxName } = mounter;
    const reason = `the sandbox ${sandboxName} mounts it; delete the sandbox first`;
    throw sandboxErrors.VOLUME_IN_USE({ details: { name, reason, sandbox_id: sandboxId } });
  }
  const row = await transaction
    .updateTable('sandbox_volume')
    .set({ state: 'removed', taken_name: null })
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Sandboxes that mount any of the volumes. */
export async function findMounters(
  kysely: Kysely<SandboxTables>,
  volumeIds: readonly string[],
): Promise<readonly VolumeMounter[]> {
  if (volumeIds.length === 0) return [];
  const rows = await kysely
    .selectFrom('sandbox_volume_mount as mount')
    .innerJoin('sandbox', 'sandbox.id', 'mount.sandbox_id')
    .select([
      'mount.volume_id',
      'mount.read_only',
      'sandbox.id',
      'sandbox.name',
      'sandbox.status',
      'sandbox.removed_at',
    ])
    .where('mount.volume_id', 'in', [...volumeIds])
    .orderBy('sandbox.created_at')
    .execute();
  return rows.map((row) => ({
    volumeId: row.volume_id,
    sandboxId: row.id,
    sandboxName: row.name,
    readOnly: row.read_only === 1,
    isActive: row.removed_at === null && (row.status === 'creating' || row.status === 'running'),
    isDeleted: row.removed_at !== null,
  }));
}

/**
 * Ensures that a sandbox can have its volumes from now on. Runs behind the gate, in the transaction that lets it start. Throws
 * VOLUME_NOT_FOUND and VOLUME_IN_USE.
 */
export async function assertVolumesFree(
  transaction: Transaction<SandboxTables>,
  { id, workspaceUuid, volumes }: Pick<Sandbox, 'id' | 'workspaceUuid' | 'volumes'>,
): Promise<void> {
  if (volumes.length === 0) return;
  const ids = volumes.map(({ volumeId }) => volumeId);
  const query = transaction.selectFrom('sandbox_volume').select('id').where('workspace_uuid', '=', workspaceUuid);
  const rows = await query
    .where('id', 'in', ids)
    .where('state', 'in', [...COMPLETE])
    .execute();
  const known = new Set(rows.map((row) => row.id));
  const others = (await findMounters(transaction, ids)).filter(
    ({ sandboxId, isActive }) => isActive && sandboxId !== id,
  );
  for (const { volumeId, name, readOnly } of volumes) {
    if (!known.has(volumeId)) throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name } });
    const other = others.find((each) => each.volumeId === volumeId && !(each.readOnly && readOnly));
    if (other === undefined) continue;
    const how = other.readOnly ? 'read-only; mount it read-only too, or stop it' : 'to write; stop it first';
    const reason = `the sandbox ${other.sandboxName} mounts it ${how}`;
    throw sandboxErrors.VOLUME_IN_USE({ details: { name, reason, sandbox_id: other.sandboxId } });
  }
}

async function list(
  kysely: Kysely<SandboxTables>,
  workspaceUuid: string,
  { kind, sourceId, pageSize, cursor }: VolumeFilter,
): Promise<VolumePage> {
  let query = kysely
    .selectFrom('sandbox_volume')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where('kind', '=', kind)
    .where('state', 'in', [...COMPLETE])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(pageSize + 1);
  if (sourceId !== undefined) query = query.where('source_id', '=', sourceId);
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
  const volumes = rows.slice(0, pageSize).map(fromRow);
  return { volumes, nextCursor: rows.length > pageSize ? pageCursor(volumes.at(-1)) : null };
}

function toRow(volume: Volume): VolumeRow {
  return {
    id: volume.id,
    workspace_uuid: volume.workspaceUuid,
    owner_id: volume.ownerId,
    node: volume.node,
    driver: volume.driver,
    kind: volume.kind,
    name: volume.name,
    taken_name: volume.kind === 'volume' ? volume.name : null,
    size_mb: volume.sizeMb,
    size_bytes: volume.sizeBytes,
    source_id: volume.sourceId,
    state: volume.state,
    created_at: volume.createdAt,
  };
}

/** Only `toRow` and the updates here write rows, so their text values have our types. */
function fromRow(row: VolumeRow): Volume {
  return {
    id: row.id,
    kind: row.kind as VolumeKind,
    workspaceUuid: row.workspace_uuid,
    ownerId: row.owner_id,
    node: row.node,
    driver: row.driver,
    name: row.name,
    sizeMb: row.size_mb,
    sizeBytes: Number(row.size_bytes),
    sourceId: row.source_id,
    state: row.state as VolumeState,
    createdAt: row.created_at,
  };
}
