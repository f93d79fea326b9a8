import {
  findBreach,
  gateSubjects,
  type Breach,
  type Demand,
  type Limits,
  passQuotaGate,
  scopeUsage,
  type Usage,
} from '@svc/quotas';
import { sql, type Kysely, type Transaction } from 'kysely';
import { sandboxQuotas } from '../quotas.ts';
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

/** Returns the first limit that the demand would exceed; exact behind the gate. */
export async function breachIn(
  transaction: Transaction<SandboxTables>,
  limits: Limits,
  demand: Demand,
): Promise<Breach | null> {
  return findBreach(limits, demand, scopeUsage(limits, await usageByWorkspace(transaction, limits.ownerWorkspaces)));
}

/** Usage of each workspace for every quota of this module. */
export async function usageByWorkspace(
  kysely: Kysely<SandboxTables>,
  workspaceUuids: readonly string[],
): Promise<ReadonlyMap<string, Usage>> {
  const usages = new Map<string, Record<string, number>>(workspaceUuids.map((uuid) => [uuid, {}]));
  const add = (uuid: string, amounts: Readonly<Record<string, number>>): void => {
    const usage = usages.get(uuid) ?? {};
    for (const [name, amount] of Object.entries(amounts)) usage[name] = (usage[name] ?? 0) + amount;
    usages.set(uuid, usage);
  };
  if (workspaceUuids.length === 0) return usages;
  for (const row of await sandboxSums(kysely, workspaceUuids)) {
    add(row.workspace_uuid, {
      [sandboxes.name]: Number(row.sandboxes),
      [sandbox_cpus.name]: Number(row.cpu_millis) / 1000,
      [sandbox_memory.name]: Number(row.memory_mb),
      [sandbox_disk.name]: Number(row.disk_mb),
    });
  }
  for (const row of await snapshotSums(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [snapshots.name]: Number(row.snapshots), [sandbox_disk.name]: Number(row.disk_mb) });
  }
  for (const row of await volumeSums(kysely, workspaceUuids)) {
    add(row.workspace_uuid, {
      [volumes.name]: Number(row.volumes),
      [snapshots.name]: Number(row.snapshots),
      [sandbox_disk.name]: Number(row.disk_mb),
    });
  }
  for (const row of await terminalCounts(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [terminals.name]: Number(row.terminals) });
  }
  for (const row of await secretCounts(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [secrets.name]: Number(row.secrets) });
  }
  for (const row of await webhookCounts(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [webhooks.name]: Number(row.webhooks) });
  }
  for (const row of await templateCounts(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [templates.name]: Number(row.templates) });
  }
  for (const row of await unfinishedBuildCounts(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [template_builds.name]: Number(row.builds) });
  }
  for (const row of await layerSums(kysely, workspaceUuids)) {
    add(row.workspace_uuid, { [sandbox_disk.name]: Math.ceil(Number(row.size_bytes) / MIB) });
  }
  return usages;
}

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

/** A snapshot in progress counts with the full size of its sandbox's disk. Its archive counts too. */
function snapshotSums(kysely: Kysely<SandboxTables>, workspaceUuids: readonly string[]) {
  return kysely
    .selectFrom('sandbox_snapshot')
    .select(({ fn, eb }) => {
      const listed = eb.case().when('state', 'in', ['making', 'ready']).then(1).else(0).end();
      const size = eb
        .case()
        .when('state', '=', 'making')
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
