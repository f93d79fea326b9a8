import type { Clock } from '@svc/runtime';
import { databaseTime, type Database } from '@svc/sql';
import { sql } from 'kysely';
import type { StreamedSnapshotRepository } from '../domain/archives/streamed-snapshots.ts';
import { CLUSTER_DRIVERS } from '../domain/clusters/sandbox-cluster.ts';
import type { SnapshotState } from '../domain/snapshots/snapshot.ts';
import { sandboxQuotas } from '../quotas.ts';
import { WITH_ARCHIVE } from './archive-removals.ts';
import { insertArchive } from './archive-repository.ts';
import { writeEvents } from './event-log.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import { recordFinished, snapshotFromRow } from './snapshot-repository.ts';
import type { SandboxTables } from './tables.ts';

const MIB = 1024 * 1024;
/** States of snapshots that nothing needs once what they are made for has ended. */
const UNFINISHED = ['making', 'fork'] as const;

/** Undoes the transaction. */
class NotNeeded extends Error {}

export function createStreamedSnapshotRepository(
  { kysely, dialect }: Database<SandboxTables>,
  clock: Pick<Clock, 'now'>,
): StreamedSnapshotRepository {
  const now = databaseTime(dialect);
  const ofClusters = sql.lit(CLUSTER_DRIVERS);
  /** Records an event unless the snapshot was complete. */
  const remove = (snapshotId: string, from: readonly SnapshotState[], message: string): Promise<void> =>
    kysely.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable('sandbox_snapshot')
        .set({ state: 'removed' })
        .where('id', '=', snapshotId)
        .where('state', 'in', from)
        .returning(['sandbox_id', 'workspace_uuid', 'archived_at'])
        .executeTakeFirst();
      if (row === undefined || row.archived_at !== null) return;
      const place = { sandboxId: row.sandbox_id, workspaceUuid: row.workspace_uuid, at: clock.now().toISOString() };
      await writeEvents(transaction, [{ type: 'snapshot_failed', details: { message }, ...place }]);
    });
  return {
    begin: (archive, snapshotId, maxBytes, limits) =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const row = await transaction
          .selectFrom('sandbox_snapshot')
          .select('disk_mb')
          .where('id', '=', snapshotId)
          .where('state', '=', 'making')
          .executeTakeFirst();
        if (row === undefined) return 'gone';
        // The disk of its sandbox is reserved already.
        const moreMib = Math.max(0, Math.ceil(maxBytes / MIB) - row.disk_mb);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.sandbox_disk, moreMib]]);
        if (breach !== null) return breach;
        await transaction
          .updateTable('sandbox_snapshot')
          .set({ archive_bytes: maxBytes })
          .where('id', '=', snapshotId)
          .execute();
        await insertArchive(transaction, archive, now);
        return null;
      }),

    finish: (archive, { sizeBytes, unpackedBytes }, state) =>
      kysely
        .transaction()
        .execute(async (transaction) => {
          const finished = await transaction
            .updateTable('sandbox_archive')
            .set({ state: 'ready', size_bytes: sizeBytes, unpacked_bytes: unpackedBytes, used_at: now, ready_at: now })
            .where('id', '=', archive.id)
            .where('state', '=', 'writing')
            .returning('id')
            .executeTakeFirst();
          if (finished === undefined) throw new NotNeeded();
          const row = await transaction
            .updateTable('sandbox_snapshot')
            .set({ state, size_bytes: sizeBytes, archive_bytes: 0, archived_at: now })
            .where('id', '=', archive.snapshotId)
            .where('state', '=', 'making')
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) throw new NotNeeded();
          return recordFinished(transaction, { clock }, row);
        })
        .catch((error: unknown) => {
          if (error instanceof NotNeeded) return null;
          throw error;
        }),

    async find(snapshotId) {
      const query = kysely.selectFrom('sandbox_snapshot').selectAll().where('id', '=', snapshotId);
      const row = await query.where('state', 'in', WITH_ARCHIVE).executeTakeFirst();
      return row === undefined ? null : snapshotFromRow(row);
    },

    fail: (snapshotId, message) => remove(snapshotId, ['making'], message),

    async unfinished(node) {
      const query = kysely.selectFrom('sandbox_snapshot').select('id').where('node', '=', node);
      const rows = await query.where('state', 'in', UNFINISHED).where('driver', 'like', ofClusters).execute();
      return rows.map(({ id }) => id);
    },

    discard: (snapshotId, message) => remove(snapshotId, UNFINISHED, message),

    async sweep(silentNodes) {
      if (silentNodes.length > 0) {
        await kysely
          .updateTable('sandbox_snapshot')
          .set({ state: 'removed' })
          .where('node', 'in', [...silentNodes])
          .where('driver', 'like', ofClusters)
          .where('state', 'in', UNFINISHED)
          .execute();
      }
      const removed = kysely.deleteFrom('sandbox_snapshot').where('state', '=', 'removed');
      await removed.where('driver', 'like', ofClusters).execute();
    },
  };
}
