import {
  findBreach,
  gateSubjects,
  passQuotaGate,
  scopeUsage,
  type Breach,
  type Limits,
  type Quota,
  type Usage,
} from '@svc/quotas';
import type { Transaction } from 'kysely';
import { OPEN_STATES } from '../domain/command.ts';
import { clusterQuotas } from '../quotas.ts';
import type { ClusterDatabase, ClusterTables } from './tables.ts';

/** Checks whether one more would exceed a limit. Blocks other counts of the workspace until the transaction ends. */
export async function breachByOne(
  transaction: Transaction<ClusterTables>,
  limits: Limits,
  quota: Quota,
): Promise<Breach | null> {
  await passQuotaGate(transaction, 'clusters', gateSubjects(limits));
  const byWorkspace = await usageByWorkspace(transaction, limits.ownerWorkspaces);
  return findBreach(limits, [[quota, 1]], scopeUsage(limits, byWorkspace));
}

/** Usage of each workspace for every quota of this module. */
export async function usageByWorkspace(
  database: ClusterDatabase,
  workspaceUuids: readonly string[],
): Promise<ReadonlyMap<string, Usage>> {
  const usages = new Map<string, Usage>();
  if (workspaceUuids.length === 0) return usages;
  const clusters = await database
    .selectFrom('cluster')
    .select(({ fn }) => ['workspace_uuid', fn.countAll().as('total')])
    .where('workspace_uuid', 'in', [...workspaceUuids])
    .groupBy('workspace_uuid')
    .execute();
  const commands = await database
    .selectFrom('cluster')
    .innerJoin('cluster_command', 'cluster_command.cluster_id', 'cluster.id')
    .select(({ fn }) => ['cluster.workspace_uuid', fn.countAll().as('total')])
    .where('cluster.workspace_uuid', 'in', [...workspaceUuids])
    .where('cluster_command.state', 'in', OPEN_STATES)
    .groupBy('cluster.workspace_uuid')
    .execute();
  const open = new Map(commands.map((row) => [row.workspace_uuid, Number(row.total)]));
  for (const row of clusters) {
    usages.set(row.workspace_uuid, {
      [clusterQuotas.clusters.name]: Number(row.total),
      [clusterQuotas.cluster_commands.name]: open.get(row.workspace_uuid) ?? 0,
    });
  }
  return usages;
}
