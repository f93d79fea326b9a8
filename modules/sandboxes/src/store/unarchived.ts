import { sql, type Kysely } from 'kysely';
import type { Unarchived } from '../domain/nodes/sandbox-node.ts';
import { ARCHIVED } from './archive-removals.ts';
import type { SandboxTables } from './tables.ts';

export const NOTHING_UNARCHIVED: Unarchived = { pending: 0, failed: 0 };

/** Snapshots that are still to be archived. */
export function unarchivedSnapshots(kysely: Kysely<SandboxTables>) {
  return kysely.selectFrom('sandbox_snapshot').where('state', 'in', ARCHIVED).where('archived_at', 'is', null);
}

/** Builds whose images are archived: finished ones with a tag. */
export function taggedBuilds(kysely: Kysely<SandboxTables>) {
  return kysely
    .selectFrom('template_build as build')
    .where('build.status', '=', 'ready')
    .where('build.digest', 'is not', null)
    .where('build.id', 'in', kysely.selectFrom('template_tag').select('build_id'));
}

/** Complete archives of images. */
export function readyImages(kysely: Kysely<SandboxTables>) {
  return kysely
    .selectFrom('sandbox_archive as archive')
    .where('archive.snapshot_id', 'is', null)
    .where('archive.state', '=', 'ready');
}

/** What each node still has to archive: its snapshots, and images of its template builds that have a tag. */
export async function readUnarchived(kysely: Kysely<SandboxTables>): Promise<Map<string, Unarchived>> {
  const failed = sql<number | string>`sum(case when archive_error is null then 0 else 1 end)`.as('failed');
  const snapshots = unarchivedSnapshots(kysely)
    .select((select) => ['node', select.fn.countAll().as('total'), failed])
    .groupBy('node');
  const images = taggedBuilds(kysely)
    .select((select) => ['build.node', select.fn.countAll().as('total'), failed])
    .where(({ not, exists, ref }) =>
      not(exists(readyImages(kysely).select('archive.id').where('archive.base', '=', ref('build.digest')))),
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
