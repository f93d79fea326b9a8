import { databaseTime, type Database } from '@svc/sql';
import type { Limits } from '@svc/quotas';
import { sql, type Kysely, type Transaction } from 'kysely';
import type {
  Archive,
  ArchiveRefusal,
  ArchiveRepository,
  ArchiveSizes,
  NewArchive,
} from '../domain/archives/archive.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { ARCHIVED, createArchiveRemovals } from './archive-removals.ts';
import { snapshotFromRow } from './snapshot-repository.ts';
import type { ArchiveRow, SandboxTables } from './tables.ts';
import { readyImages, taggedBuilds, unarchivedSnapshots } from './unarchived.ts';

const MIB = 1024 * 1024;

export function createArchiveRepository(database: Database<SandboxTables>): ArchiveRepository {
  return { ...createWrites(database), ...createQueries(database), ...createArchiveRemovals(database) };
}

/** Before the first byte is stored, so that nothing stored is ever without a row. */
export async function insertArchive(
  transaction: Transaction<SandboxTables>,
  { id, snapshotId, base, format, node, workspaceUuid, key: { wrapper, text: box } }: NewArchive,
  now: ReturnType<typeof databaseTime>,
  reservedBytes = 0,
): Promise<void> {
  const what = { id, snapshot_id: snapshotId, base, format, node, wrapper, box, workspace_uuid: workspaceUuid };
  const values = { ...what, state: 'writing', size_bytes: reservedBytes, used_at: now };
  await transaction.insertInto('sandbox_archive').values(values).execute();
}

type Writes = Pick<
  ArchiveRepository,
  'begin' | 'finish' | 'forget' | 'markRemoved' | 'noteFailure' | 'noteImageFailure' | 'useBase'
>;
type Queries = Pick<ArchiveRepository, 'find' | 'findBase' | 'unarchived' | 'unarchivedImages' | 'unfinished'>;

function createWrites({ kysely, dialect }: Database<SandboxTables>): Writes {
  const now = databaseTime(dialect);
  return {
    begin: (archive, snapshot, maxBytes, limits) =>
      kysely.transaction().execute(async (transaction) => {
        const refusal = limits === null ? null : await reserve(transaction, snapshot, maxBytes, limits);
        if (refusal !== null) return refusal;
        await insertArchive(transaction, archive, now, archive.workspaceUuid === null ? 0 : maxBytes);
        return null;
      }),

    finish: (archive, sizes) =>
      kysely
        .transaction()
        .execute((transaction) => finish(transaction, archive, sizes, dialect))
        .catch((error: unknown) => {
          if (error instanceof NotNeeded) return error.reason;
          throw error;
        }),

    async markRemoved(id) {
      const unfinished = kysely.updateTable('sandbox_archive').where('id', '=', id).where('state', '!=', 'ready');
      await unfinished.set({ state: 'removed' }).execute();
      const complete = kysely.selectFrom('sandbox_archive').select('id').where('id', '=', id);
      return (await complete.where('state', '=', 'ready').executeTakeFirst()) === undefined;
    },

    async forget(id) {
      await kysely.deleteFrom('sandbox_archive').where('id', '=', id).where('state', '=', 'removed').execute();
    },

    async noteFailure(snapshotId, reason) {
      await kysely
        .updateTable('sandbox_snapshot')
        .set({ archive_error: reason, archive_bytes: 0 })
        .where('id', '=', snapshotId)
        .where('archived_at', 'is', null)
        .execute();
    },

    async noteImageFailure(buildId, reason) {
      await kysely.updateTable('template_build').set({ archive_error: reason }).where('id', '=', buildId).execute();
    },

    async useBase(base, format) {
      const row = await kysely
        .updateTable('sandbox_archive')
        .set({ used_at: now })
        .where('snapshot_id', 'is', null)
        .where('base', '=', base)
        .where('format', '=', format)
        .where('state', '=', 'ready')
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

function createQueries({ kysely }: Database<SandboxTables>): Queries {
  return {
    async find(snapshotId) {
      const row = await kysely
        .selectFrom('sandbox_archive')
        .selectAll()
        .where('snapshot_id', '=', snapshotId)
        .where('state', '=', 'ready')
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async findBase(base, format) {
      const row = await readyBases(kysely, format).selectAll().where('archive.base', '=', base).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async unarchivedImages(node, format, limit) {
      const rows = await taggedBuilds(kysely)
        .select(['build.id', 'build.workspace_uuid', 'build.digest'])
        .where('build.node', '=', node)
        .where(({ not, exists, ref }) =>
          not(exists(readyBases(kysely, format).select('archive.id').where('archive.base', '=', ref('build.digest')))),
        )
        // As of snapshots: neither many that fail nor many of one workspace keep the others waiting.
        .orderBy((column) => column.case().when('archive_error', 'is', null).then(0).else(1).end())
        .orderBy(sql`row_number() over (partition by workspace_uuid order by archive_error is null desc, random())`)
        .limit(limit)
        .execute();
      return rows.map(({ id, workspace_uuid: workspaceUuid, digest }) => ({ id, workspaceUuid, digest: digest ?? '' }));
    },

    async unarchived(node, limit) {
      const rows = await unarchivedSnapshots(kysely)
        .selectAll()
        .where('node', '=', node)
        // Many that fail must not keep the others from being archived.
        .orderBy((column) => column.case().when('archive_error', 'is', null).then(0).else(1).end())
        // Nor must many of one workspace.
        .orderBy(sql`row_number() over (partition by workspace_uuid order by archive_error is null desc, random())`)
        .limit(limit)
        .execute();
      return rows.map(snapshotFromRow);
    },

    async unfinished(node) {
      const query = kysely.selectFrom('sandbox_archive').select('id').where('node', '=', node);
      return idsOf(await query.where('state', 'in', ['writing', 'abandoned']).execute());
    },
  };
}

function readyBases(kysely: Kysely<SandboxTables>, format: string) {
  return readyImages(kysely).where('archive.format', '=', format);
}

/** Counts the archive with the most that it may take, until its size is known. That of an image has it in its row. */
async function reserve(
  transaction: Transaction<SandboxTables>,
  snapshot: Snapshot | null,
  maxBytes: number,
  limits: Limits,
) {
  await enterGate(transaction, limits);
  const id = snapshot?.id ?? '';
  const reserveFor = (archiveBytes: number) =>
    transaction.updateTable('sandbox_snapshot').set({ archive_bytes: archiveBytes }).where('id', '=', id);
  if (snapshot !== null) {
    const row = await reserveFor(0) // of an attempt that a crash ended
      .where('state', 'in', ARCHIVED)
      .where('archived_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) return 'gone';
  }
  const breach = await breachIn(transaction, limits, [[sandboxQuotas.sandbox_disk, maxBytes / MIB]]);
  if (breach !== null) return breach;
  if (snapshot !== null) await reserveFor(maxBytes).execute();
  return null;
}

/** Undoes the transaction. */
class NotNeeded extends Error {
  readonly reason: ArchiveRefusal;

  constructor(reason: ArchiveRefusal) {
    super(reason);
    this.reason = reason;
  }
}

async function finish(
  transaction: Transaction<SandboxTables>,
  { id, snapshotId, base, format }: NewArchive,
  { sizeBytes, unpackedBytes }: ArchiveSizes,
  dialect: Database<SandboxTables>['dialect'],
): Promise<null> {
  const now = databaseTime(dialect);
  if (snapshotId !== null && base !== null) {
    // Locks the base: its removal sees this archive, or this sees the removal.
    const kept = await transaction
      .updateTable('sandbox_archive')
      .set({ used_at: now })
      .where('snapshot_id', 'is', null)
      .where('base', '=', base)
      .where('format', '=', format)
      .where('state', '=', 'ready')
      .returning('id')
      .executeTakeFirst();
    if (kept === undefined) throw new NotNeeded('base_gone');
  }
  const finished = await transaction
    .updateTable('sandbox_archive')
    .set({ state: 'ready', size_bytes: sizeBytes, unpacked_bytes: unpackedBytes, used_at: now, ready_at: now })
    .where('id', '=', id)
    .where('state', '=', 'writing')
    .returning('id')
    .executeTakeFirst();
  if (finished === undefined) throw new NotNeeded('gone');
  if (snapshotId === null) {
    await transaction
      .updateTable('template_build')
      .set({ archive_error: null })
      .where('digest', '=', base)
      .where('archive_error', 'is not', null)
      .execute();
    return null;
  }
  const archived = await transaction
    .updateTable('sandbox_snapshot')
    .set({ archived_at: now, archive_bytes: sizeBytes, archive_error: null })
    .where('id', '=', snapshotId)
    .where('state', 'in', ARCHIVED)
    .returning('id')
    .executeTakeFirst();
  if (archived === undefined) throw new NotNeeded('gone');
  return null;
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

function fromRow(row: ArchiveRow): Archive {
  return {
    id: row.id,
    snapshotId: row.snapshot_id,
    base: row.base,
    format: row.format,
    node: row.node,
    key: { wrapper: row.wrapper, text: row.box },
    workspaceUuid: row.workspace_uuid,
    sizeBytes: Number(row.size_bytes),
    unpackedBytes: row.unpacked_bytes === null ? null : Number(row.unpacked_bytes),
  };
}
