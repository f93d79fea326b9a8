import { databaseTime, type Database } from '@svc/sql';
import type { Limits } from '@svc/quotas';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Archive, ArchiveRefusal, ArchiveRepository, NewArchive } from '../domain/archives/archive.ts';
import { DRAINING, MOVING } from '../domain/nodes/drain-state.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { snapshotFromRow } from './snapshot-repository.ts';
import type { ArchiveRow, SandboxTables } from './tables.ts';

/** A base that an archive uses stays for as long as writing that archive may take. */
const BASE_KEPT_MS = 3_600_000;
/** The use of an image that is needed is noted this long before the image could be removed. */
const NOTED_BEFORE_MS = BASE_KEPT_MS / 2;
const MIB = 1024 * 1024;
/** States of snapshots that are archived. */
export const ARCHIVED = ['ready', 'move'] as const;
/** States of snapshots that need the archive they have. Only what is streamed has one for a fork. */
const WITH_ARCHIVE = [...ARCHIVED, 'fork'] as const;

export function createArchiveRepository(database: Database<SandboxTables>): ArchiveRepository {
  return { ...createWrites(database), ...createQueries(database), ...createRemovals(database) };
}

/** Before the first byte is stored, so that nothing stored is ever without a row. */
export async function insertArchive(
  transaction: Transaction<SandboxTables>,
  { id, snapshotId, base, format, node, key: { wrapper, text: box } }: NewArchive,
  now: ReturnType<typeof databaseTime>,
): Promise<void> {
  const what = { id, snapshot_id: snapshotId, base, format, node, wrapper, box };
  const values = { ...what, state: 'writing', size_bytes: 0, used_at: now };
  await transaction.insertInto('sandbox_archive').values(values).execute();
}

type Writes = Pick<ArchiveRepository, 'begin' | 'finish' | 'forget' | 'noteFailure' | 'noteImageFailure' | 'useBase'>;
type Queries = Pick<ArchiveRepository, 'find' | 'findBase' | 'unarchived' | 'unarchivedImages' | 'unfinished'>;
type Removals = Pick<ArchiveRepository, 'abandon' | 'abandoned' | 'takeUnneeded'>;

function createWrites({ kysely, dialect }: Database<SandboxTables>): Writes {
  const now = databaseTime(dialect);
  return {
    begin: (archive, snapshot, limits) =>
      kysely.transaction().execute(async (transaction) => {
        if (snapshot !== null && limits !== null) {
          const refusal = await reserve(transaction, snapshot, limits);
          if (refusal !== null) return refusal;
        }
        await insertArchive(transaction, archive, now);
        return null;
      }),

    finish: (archive, sizeBytes) =>
      kysely
        .transaction()
        .execute((transaction) => finish(transaction, archive, sizeBytes, dialect))
        .catch((error: unknown) => {
          if (error instanceof NotNeeded) return error.reason;
          throw error;
        }),

    async forget(id) {
      await kysely.deleteFrom('sandbox_archive').where('id', '=', id).execute();
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
      const rows = await kysely
        .selectFrom('template_build as build')
        .select(['build.id', 'build.workspace_uuid', 'build.digest'])
        .where('build.node', '=', node)
        .where('build.status', '=', 'ready')
        .where('build.digest', 'is not', null)
        .where('build.id', 'in', kysely.selectFrom('template_tag').select('build_id'))
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
      const rows = await kysely
        .selectFrom('sandbox_snapshot')
        .selectAll()
        .where('node', '=', node)
        .where('state', 'in', ARCHIVED)
        .where('archived_at', 'is', null)
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

function createRemovals(database: Database<SandboxTables>): Removals {
  const { kysely } = database;
  return {
    async abandon(nodes) {
      if (nodes.length === 0) return;
      await kysely
        .updateTable('sandbox_archive')
        .set({ state: 'abandoned' })
        .where('node', 'in', [...nodes])
        .where('state', '=', 'writing')
        .execute();
    },

    async abandoned(limit) {
      const query = kysely.selectFrom('sandbox_archive').select('id').where('state', '=', 'abandoned');
      return idsOf(await query.limit(limit).execute());
    },

    async takeUnneeded(limit) {
      await removeMoved(kysely);
      await removeUnneeded(kysely);
      await noteNeededImages(database);
      await removeUnusedBases(database);
      const query = kysely.selectFrom('sandbox_archive').select('id').where('state', '=', 'removed');
      return idsOf(await query.limit(limit).execute());
    },
  };
}

function readyBases(kysely: Kysely<SandboxTables>, format: string) {
  return kysely
    .selectFrom('sandbox_archive as archive')
    .where('archive.snapshot_id', 'is', null)
    .where('archive.state', '=', 'ready')
    .where('archive.format', '=', format);
}

/**
 * Images that a tag of a template refers to, or that a sandbox waits for, count as used: replicas of earlier versions,
 * which know nothing of templates, keep them as well.
 */
async function noteNeededImages({ kysely, dialect }: Database<SandboxTables>): Promise<void> {
  await kysely
    .updateTable('sandbox_archive as archive')
    .set({ used_at: databaseTime(dialect) })
    .where('archive.snapshot_id', 'is', null)
    .where('archive.state', '=', 'ready')
    .where('archive.used_at', '<', databaseTime(dialect, -NOTED_BEFORE_MS))
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('template_build as build')
            .innerJoin('template_tag as tag', 'tag.build_id', 'build.id')
            .select('build.id')
            .whereRef('build.digest', '=', 'archive.base'),
        ),
        exists(
          selectFrom('sandbox')
            .select('sandbox.id')
            .where('sandbox.removed_at', 'is', null)
            .where('sandbox.started_at', 'is', null)
            // JSON that `templateColumn` wrote.
            .where('sandbox.template', 'like', sql<string>`'%"digest":"' || archive.base || '"%'`),
        ),
      ]),
    )
    .execute();
}

/** Bases that no archive uses, once they have not been used for a while. */
async function removeUnusedBases({ kysely, dialect }: Database<SandboxTables>): Promise<void> {
  await kysely
    .updateTable('sandbox_archive as archive')
    .set({ state: 'removed' })
    .where('archive.snapshot_id', 'is', null)
    .where('archive.state', '=', 'ready')
    // Archiving a snapshot on this base writes this column in its last transaction, so one of the two comes first.
    .where('archive.used_at', '<', databaseTime(dialect, -BASE_KEPT_MS))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox_archive as user')
            .select('user.id')
            .whereRef('user.base', '=', 'archive.base')
            .where('user.snapshot_id', 'is not', null)
            .where('user.state', 'in', ['writing', 'ready']),
        ),
      ),
    )
    .execute();
}

/** Snapshots for moves that are done, or that a start on the first node made pointless. Their node may be gone. */
async function removeMoved(kysely: Kysely<SandboxTables>): Promise<void> {
  await kysely
    .updateTable('sandbox_snapshot as snapshot')
    .set({ state: 'removed' })
    .where('snapshot.state', '=', 'move')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox')
            .select('sandbox.id')
            .whereRef('sandbox.id', '=', 'snapshot.sandbox_id')
            .where('sandbox.removed_at', 'is', null)
            .where((sandbox) =>
              sandbox.or([
                sandbox('sandbox.started_at', 'is', null), // the other node creates it
                sandbox('sandbox.state_reason', 'in', [DRAINING, MOVING]),
              ]),
            ),
        ),
      ),
    )
    .execute();
}

/** Archives whose snapshot is gone, unless a sandbox still waits for its files. */
async function removeUnneeded(kysely: Kysely<SandboxTables>): Promise<void> {
  await kysely
    .updateTable('sandbox_archive as archive')
    .set({ state: 'removed' })
    .where('archive.snapshot_id', 'is not', null)
    .where('archive.state', '=', 'ready')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox_snapshot as snapshot')
            .select('snapshot.id')
            .whereRef('snapshot.id', '=', 'archive.snapshot_id')
            .where('snapshot.state', 'in', WITH_ARCHIVE),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox')
            .select('sandbox.id')
            .whereRef('sandbox.snapshot_id', '=', 'archive.snapshot_id')
            .where('sandbox.removed_at', 'is', null)
            .where('sandbox.started_at', 'is', null),
        ),
      ),
    )
    .execute();
}

/** Counts the archive as large as its snapshot until its size is known. */
async function reserve(transaction: Transaction<SandboxTables>, { id, sizeBytes }: Snapshot, limits: Limits) {
  await enterGate(transaction, limits);
  const row = await transaction
    .updateTable('sandbox_snapshot')
    .set({ archive_bytes: 0 }) // of an attempt that a crash ended
    .where('id', '=', id)
    .where('state', 'in', ARCHIVED)
    .where('archived_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return 'gone';
  const breach = await breachIn(transaction, limits, [[sandboxQuotas.sandbox_disk, sizeBytes / MIB]]);
  if (breach !== null) return breach;
  await transaction.updateTable('sandbox_snapshot').set({ archive_bytes: sizeBytes }).where('id', '=', id).execute();
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
  sizeBytes: number,
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
    .set({ state: 'ready', size_bytes: sizeBytes, used_at: now, ready_at: now })
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
    sizeBytes: Number(row.size_bytes),
    unpackedBytes: row.unpacked_bytes === null ? null : Number(row.unpacked_bytes),
  };
}
