import type { Quota } from '@svc/quotas';
import { sql, type AliasableExpression, type Kysely } from 'kysely';
import { sandboxQuotas } from '../quotas.ts';
import { waitingSandboxes } from './archive-removals.ts';
import type { SandboxTables } from './tables.ts';

const { sandboxes, sandbox_cpus, sandbox_memory, sandbox_disk, snapshots } = sandboxQuotas;
const { templates, template_builds, terminals, secrets, volumes, webhooks } = sandboxQuotas;

export const MIB = 1024 * 1024;

/** What a column adds to a quota: `units` of the column are one of the quota, rounded up if they are bytes. */
interface Count {
  readonly quota: Quota;
  readonly units?: number;
}

/** A table with something that counts toward quotas. */
export interface UsageSource {
  /** Of the columns `n0` to `n3`, in order. */
  readonly counts: readonly Count[];
  /** Selects `workspace_uuid` and the sums of each workspace as `n0` to `n3`. */
  select(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]): AliasableExpression<object>;
}

/** The most columns of a source. */
export const USAGE_COLUMNS = ['n0', 'n1', 'n2', 'n3'] as const;

export const USAGE_SOURCES: readonly UsageSource[] = [
  {
    counts: [
      { quota: sandboxes },
      { quota: sandbox_cpus, units: 1000 },
      { quota: sandbox_memory },
      { quota: sandbox_disk },
    ],
    select: sandboxSums,
  },
  { counts: [{ quota: snapshots }, { quota: sandbox_disk }], select: snapshotSums },
  { counts: [{ quota: volumes }, { quota: snapshots }, { quota: sandbox_disk }], select: volumeSums },
  { counts: [{ quota: terminals }], select: terminalCounts },
  { counts: [{ quota: secrets }], select: secretCounts },
  { counts: [{ quota: webhooks }], select: webhookCounts },
  { counts: [{ quota: templates }], select: templateCounts },
  { counts: [{ quota: template_builds }], select: unfinishedBuildCounts },
  { counts: [{ quota: sandbox_disk, units: MIB }], select: layerSums },
  { counts: [{ quota: sandbox_disk, units: MIB }], select: imageArchiveSums },
  { counts: [{ quota: sandbox_disk, units: MIB }], select: awaitedArchiveSums },
];

function sandboxSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox')
    .select(({ fn, eb }) => {
      const whileActive = (column: 'cpu_millis' | 'memory_mb') =>
        eb.case().when('status', 'in', ['creating', 'running']).then(eb.ref(column)).else(0).end();
      return [
        'workspace_uuid',
        fn.countAll().as('n0'),
        fn.sum(whileActive('cpu_millis')).as('n1'),
        fn.sum(whileActive('memory_mb')).as('n2'),
        fn.sum('disk_mb').as('n3'),
      ];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('removed_at', 'is', null)
    .groupBy('workspace_uuid');
}

/**
 * A snapshot in progress counts with the full size of its sandbox's disk, or with what is reserved for it if that is more.
 * Its archive counts too.
 */
function snapshotSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_snapshot')
    .select(({ fn, eb }) => {
      const listed = eb.case().when('state', 'in', ['making', 'ready']).then(1).else(0).end();
      const size = eb
        .case()
        .when(
          eb.and([
            eb('state', '=', 'making'),
            eb(sql<number>`archive_bytes / ${sql.lit(MIB)}`, '<', eb.ref('disk_mb')),
          ]),
        )
        .then(eb.ref('disk_mb'))
        .else(sql<number>`(size_bytes + archive_bytes) / ${sql.lit(MIB)}`)
        .end();
      return ['workspace_uuid', fn.sum(listed).as('n0'), fn.sum(size).as('n1')];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'removed')
    .groupBy('workspace_uuid');
}

/** A volume counts with its size, which is reserved for it; a snapshot with what it takes, once it is complete. */
function volumeSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_volume')
    .select(({ fn, eb }) => {
      const ofKind = (kind: 'volume' | 'snapshot') => eb.case().when('kind', '=', kind).then(1).else(0).end();
      const isCopied = eb.and([eb('kind', '=', 'snapshot'), eb('state', '!=', 'making')]);
      const size = eb
        .case()
        .when(isCopied)
        .then(eb('size_bytes', '/', eb.lit(MIB)))
        .else(eb.ref('size_mb'))
        .end();
      return [
        'workspace_uuid',
        fn.sum(ofKind('volume')).as('n0'),
        fn.sum(ofKind('snapshot')).as('n1'),
        fn.sum(size).as('n2'),
      ];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'removed')
    .groupBy('workspace_uuid');
}

function terminalCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_terminal')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid');
}

function secretCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('workspace_secret')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid');
}

function webhookCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_webhook')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid');
}

function templateCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid');
}

function unfinishedBuildCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template_build')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('status', 'in', ['waiting', 'building'])
    .groupBy('workspace_uuid');
}

function layerSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template_layer')
    .select(({ fn }) => ['workspace_uuid', fn.sum('size_bytes').as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid');
}

/** Archives of images, with what is reserved for those that are being written. Nothing is left of those given up. */
function imageArchiveSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_archive')
    .select(({ fn }) => ['workspace_uuid', fn.sum('size_bytes').as('n0')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'abandoned')
    .groupBy('workspace_uuid');
}

/** Archives of deleted snapshots that sandboxes wait for. Until its deletion, a snapshot counts its own. */
function awaitedArchiveSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  const awaited = waitingSandboxes(kysely)
    .select(['sandbox.workspace_uuid', 'sandbox.snapshot_id'])
    .distinct()
    .where('sandbox.workspace_uuid', 'in', [...workspaceUuids])
    .as('awaited');
  return kysely
    .selectFrom(awaited)
    .innerJoin('sandbox_archive as archive', 'archive.snapshot_id', 'awaited.snapshot_id')
    .select(({ fn }) => ['awaited.workspace_uuid', fn.sum('archive.size_bytes').as('n0')])
    .where('archive.state', '=', 'ready')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sandbox_snapshot as snapshot')
            .select('snapshot.id')
            .whereRef('snapshot.id', '=', 'archive.snapshot_id')
            .where('snapshot.state', '!=', 'removed'),
        ),
      ),
    )
    .groupBy('awaited.workspace_uuid');
}
