import { sql, type Kysely } from 'kysely';
import type { Unarchived } from '../domain/nodes/sandbox-node.ts';
import { ARCHIVED } from './archive-removals.ts';
import type { SandboxTables } from './tables.ts';

export const NOTHING_UNARCHIVED: Unarchived = { pending: 0, failed: 0 };

/** What each node still has to archive: its snapshots, and images of its template builds that have a tag. */
export async function readUnarchived(kysely: Kysely<SandboxTables>): Promise<Map<string, Unarchived>> {
  const failed = sql<number | string>`sum(case when archive_error is null then 0 else 1 end)`.as('failed');
  const snapshots = kysely
    .selectFrom('sandbox_snapshot')
    .select((select) => ['node', select.fn.countAll().as('total'), failed])
    .where('state', 'in', ARCHIVED)
    .where('archived_at', 'is', null)
    .groupBy('node');
  const images = kysely
    .selectFrom('template_build as build')
    .select((select) => ['build.node', select.fn.countAll().as('total'), failed])
    .where('build.status', '=', 'ready')
    .where('build.digest', 'is not', null)
    .where('build.id', 'in', kysely.selectFrom('template_tag').select('build_id'))
    .where(({ not, exists, ref, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox_archive as archive')
            .select('archive.id')
            .where('archive.snapshot_id', 'is', null)
            .where('archive.state', '=', 'ready')
            .where('archive.base', '=', ref('build.digest')),
        ),
      ),
    )
    .groupBy('build.node');
  const found = new Map<string, Unarchived>();
  for (const row of [...(await snapshots.execute()), ...(await images.execute())]) {
    const before = found.get(row.node) ?? NOTHING_UNARCHIVED;
    const failures = Number(row.failed);
    found.set(row.node, {
      pending: before.pending + Number(row.total) - failures,
      failed: before.failed + failures,
    });
  }
  return found;
}
