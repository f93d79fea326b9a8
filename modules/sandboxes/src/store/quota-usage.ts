import {
  findBreach,
  gateSubjects,
  isLimited,
  type Breach,
  type Demand,
  type Limits,
  passQuotaGate,
  type Quota,
  QUOTA_SCOPES,
  scopeUsage,
  type Usage,
} from '@svc/quotas';
import { sql, type Kysely, type Transaction } from 'kysely';
import { sandboxQuotas } from '../quotas.ts';
import { waitingSandboxes } from './archive-removals.ts';
import type { SandboxTables } from './tables.ts';

const { sandboxes, sandbox_cpus, sandbox_memory, sandbox_disk, snapshots } = sandboxQuotas;
const { templates, template_builds, terminals, secrets, volumes, webhooks } = sandboxQuotas;

/** Blocks other counts of the workspace, its owner and the caller until the transaction ends. */
export async function enterGate(
  transaction: Transaction<SandboxTables>,
  limits: Limits,
  accountableId?: string,
): Promise<void> {
  const caller = accountableId === undefined ? [] : [`caller/${accountableId}`];
  await passQuotaGate(transaction, 'sandboxes', [...caller, ...gateSubjects(limits)]);
}

/** Returns the first limit that the demand would exceed; exact behind the gate. Counts only what is limited. */
export async function breachIn(
  transaction: Transaction<SandboxTables>,
  limits: Limits,
  demand: Demand,
): Promise<Breach | null> {
  const limited = demand
    .map(([quota]) => quota)
    .filter((quota) => QUOTA_SCOPES.some((scope) => isLimited(limits, scope, [quota])));
  if (limited.length === 0) return null;
  const usage = await usageByWorkspace(transaction, limits.ownerWorkspaces, limited);
  return findBreach(limits, demand, scopeUsage(limits, usage));
}

/** Usage of each workspace, at least for the given quotas. */
export async function usageByWorkspace(
  kysely: Kysely<SandboxTables>,
  workspaceUuids: readonly string[],
  quotas: readonly Quota[] = Object.values(sandboxQuotas),
): Promise<ReadonlyMap<string, Usage>> {
  const usages = new Map<string, Record<string, number>>(workspaceUuids.map((uuid) => [uuid, {}]));
  if (workspaceUuids.length === 0) return usages;
  for (const source of SOURCES.filter(({ counts }) => counts.some((quota) => quotas.includes(quota)))) {
    for (const [uuid, amounts] of await source.read(kysely, workspaceUuids)) {
      const usage = usages.get(uuid) ?? {};
      for (const [name, amount] of Object.entries(amounts)) usage[name] = (usage[name] ?? 0) + amount;
      usages.set(uuid, usage);
    }
  }
  return usages;
}

/** Amounts of a workspace. */
type Counted = readonly [workspaceUuid: string, amounts: Usage];

interface Source {
  /** The quotas that it adds to. */
  readonly counts: readonly Quota[];
  read(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]): Promise<readonly Counted[]>;
}

const SOURCES: readonly Source[] = [
  {
    counts: [sandboxes, sandbox_cpus, sandbox_memory, sandbox_disk],
    read: async (kysely, uuids) =>
      (await sandboxSums(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        {
          [sandboxes.name]: Number(row.sandboxes),
          [sandbox_cpus.name]: Number(row.cpu_millis) / 1000,
          [sandbox_memory.name]: Number(row.memory_mb),
          [sandbox_disk.name]: Number(row.disk_mb),
        },
      ]),
  },
  {
    counts: [snapshots, sandbox_disk],
    read: async (kysely, uuids) =>
      (await snapshotSums(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [snapshots.name]: Number(row.snapshots), [sandbox_disk.name]: Number(row.disk_mb) },
      ]),
  },
  {
    counts: [volumes, snapshots, sandbox_disk],
    read: async (kysely, uuids) =>
      (await volumeSums(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        {
          [volumes.name]: Number(row.volumes),
          [snapshots.name]: Number(row.snapshots),
          [sandbox_disk.name]: Number(row.disk_mb),
        },
      ]),
  },
  {
    counts: [terminals],
    read: async (kysely, uuids) =>
      (await terminalCounts(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [terminals.name]: Number(row.terminals) },
      ]),
  },
  {
    counts: [secrets],
    read: async (kysely, uuids) =>
      (await secretCounts(kysely, uuids)).map((row) => [row.workspace_uuid, { [secrets.name]: Number(row.secrets) }]),
  },
  {
    counts: [webhooks],
    read: async (kysely, uuids) =>
      (await webhookCounts(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [webhooks.name]: Number(row.webhooks) },
      ]),
  },
  {
    counts: [templates],
    read: async (kysely, uuids) =>
      (await templateCounts(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [templates.name]: Number(row.templates) },
      ]),
  },
  {
    counts: [template_builds],
    read: async (kysely, uuids) =>
      (await unfinishedBuildCounts(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [template_builds.name]: Number(row.builds) },
      ]),
  },
  {
    counts: [sandbox_disk],
    read: async (kysely, uuids) =>
      (await layerSums(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [sandbox_disk.name]: Math.ceil(Number(row.size_bytes) / MIB) },
      ]),
  },
  {
    counts: [sandbox_disk],
    read: async (kysely, uuids) =>
      (await imageArchiveSums(kysely, uuids)).map((row) => [
        row.workspace_uuid ?? '',
        { [sandbox_disk.name]: Math.ceil(Number(row.size_bytes) / MIB) },
      ]),
  },
  {
    counts: [sandbox_disk],
    read: async (kysely, uuids) =>
      (await awaitedArchiveSums(kysely, uuids)).map((row) => [
        row.workspace_uuid,
        { [sandbox_disk.name]: Math.ceil(Number(row.size_bytes) / MIB) },
      ]),
  },
];

function templateCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('templates')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
}

function unfinishedBuildCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template_build')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('builds')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('status', 'in', ['waiting', 'building'])
    .groupBy('workspace_uuid')
    .execute();
}

function layerSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('template_layer')
    .select(({ fn }) => ['workspace_uuid', fn.sum('size_bytes').as('size_bytes')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
}

/** Archives of images, with what is reserved for those that are being written. Nothing is left of those given up. */
function imageArchiveSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_archive')
    .select(({ fn }) => ['workspace_uuid', fn.sum('size_bytes').as('size_bytes')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'abandoned')
    .groupBy('workspace_uuid')
    .execute();
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
    .select(({ fn }) => ['awaited.workspace_uuid', fn.sum('archive.size_bytes').as('size_bytes')])
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
    .groupBy('awaited.workspace_uuid')
    .execute();
}

function secretCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('workspace_secret')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('secrets')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
}

function webhookCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_webhook')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('webhooks')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
}

function sandboxSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox')
    .select(({ fn, eb }) => {
      const whileActive = (column: 'cpu_millis' | 'memory_mb') =>
        eb.case().when('status', 'in', ['creating', 'running']).then(eb.ref(column)).else(0).end();
      return [
        'workspace_uuid',
        fn.countAll().as('sandboxes'),
        fn.sum(whileActive('cpu_millis')).as('cpu_millis'),
        fn.sum(whileActive('memory_mb')).as('memory_mb'),
        fn.sum('disk_mb').as('disk_mb'),
      ];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('removed_at', 'is', null)
    .groupBy('workspace_uuid')
    .execute();
}

const MIB = 1024 * 1024;

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
      return ['workspace_uuid', fn.sum(listed).as('snapshots'), fn.sum(size).as('disk_mb')];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'removed')
    .groupBy('workspace_uuid')
    .execute();
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
        fn.sum(ofKind('volume')).as('volumes'),
        fn.sum(ofKind('snapshot')).as('snapshots'),
        fn.sum(size).as('disk_mb'),
      ];
    })
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .where('state', '!=', 'removed')
    .groupBy('workspace_uuid')
    .execute();
}

function terminalCounts(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_terminal')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('terminals')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
}
