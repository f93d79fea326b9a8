import { databaseTime, type Database } from '@svc/sql';
import { sql, type Kysely } from 'kysely';
import type { ArchiveRepository } from '../domain/archives/archive.ts';
import { DRAINING, MOVING } from '../domain/nodes/drain-state.ts';
import type { CauseCode } from '../errors.ts';
import type { SandboxTables } from './tables.ts';

/** A base that an archive uses stays for as long as writing that archive may take. */
const BASE_KEPT_MS = 3_600_000;
/** The use of an image that is needed is noted this long before the image could be removed. */
const NOTED_BEFORE_MS = BASE_KEPT_MS / 2;
/** States of snapshots that are archived. */
export const ARCHIVED = ['ready', 'move'] as const;
/** States of snapshots that need the archive they have. Only what is streamed has one for a fork. */
export const WITH_ARCHIVE = [...ARCHIVED, 'fork'] as const;

const FINAL: CauseCode = 'CLUSTER_REMOVED';

/** Finds archives that nothing needs. */
export function createArchiveRemovals(
  database: Database<SandboxTables>,
): Pick<ArchiveRepository, 'abandon' | 'abandoned' | 'takeUnneeded'> {
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

/** Sandboxes that never ran, but may: they need what they are created from. A cluster that was removed never returns. */
export function waitingSandboxes(kysely: Kysely<SandboxTables>) {
  return kysely
    .selectFrom('sandbox')
    .where('sandbox.removed_at', 'is', null)
    .where('sandbox.started_at', 'is', null)
    .where(({ or, eb }) => or([eb('sandbox.error_code', 'is', null), eb('sandbox.error_code', '!=', FINAL)]));
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
          waitingSandboxes(kysely)
            .select('sandbox.id')
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
    .where(({ not, exists }) => {
      const ofArchive = sql.ref<string>('archive.snapshot_id');
      return not(exists(waitingSandboxes(kysely).select('sandbox.id').where('sandbox.snapshot_id', '=', ofArchive)));
    })
    .execute();
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
