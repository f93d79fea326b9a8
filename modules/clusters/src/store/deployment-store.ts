import type { Deployment, DeploymentStore } from '../domain/command.ts';
import { pageOf } from '@svc/runtime';
import type { PageRequest } from '../domain/paging.ts';
import { COMMAND_COLUMNS, toCommand } from './command-rows.ts';
import type { ClusterDatabase } from './tables.ts';

export function createDeploymentStore(database: ClusterDatabase): DeploymentStore {
  return {
    find: async (clusterId, id) => {
      const row = await selectDeployments(database)
        .where('cluster_deployment.cluster_id', '=', clusterId)
        .where('cluster_deployment.id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : toDeployment(row);
    },
    findByCommand: async (commandId) => {
      const row = await selectDeployments(database)
        .where('cluster_deployment.command_id', '=', commandId)
        .executeTakeFirst();
      return row === undefined ? undefined : toDeployment(row);
    },
    list: (clusterId, projectId, page) => listDeployments(database, clusterId, projectId, page),
  };
}

function selectDeployments(database: ClusterDatabase) {
  return database
    .selectFrom('cluster_deployment')
    .innerJoin('cluster_command', 'cluster_command.id', 'cluster_deployment.command_id')
    .select([
      'cluster_deployment.id as deployment_id',
      'cluster_deployment.project_id',
      'cluster_deployment.namespace',
      'cluster_deployment.manifest_sha256',
      'cluster_deployment.dry_run',
      ...COMMAND_COLUMNS,
    ]);
}

async function listDeployments(
  database: ClusterDatabase,
  clusterId: string,
  projectId: string | null,
  page: PageRequest,
) {
  let query = selectDeployments(database).where('cluster_deployment.cluster_id', '=', clusterId);
  if (projectId !== null) query = query.where('cluster_deployment.project_id', '=', projectId);
  const [createdAt, id] = page.after ?? [];
  if (createdAt !== undefined && id !== undefined) {
    query = query.where((where) =>
      where.or([
        where('cluster_deployment.created_at', '<', createdAt),
        where.and([where('cluster_deployment.created_at', '=', createdAt), where('cluster_deployment.id', '<', id)]),
      ]),
    );
  }
  const rows = await query
    .orderBy('cluster_deployment.created_at', 'desc')
    .orderBy('cluster_deployment.id', 'desc')
    .limit(page.limit + 1)
    .execute();
  return pageOf(rows.map(toDeployment), page.limit, (last) => [last.createdAt, last.id]);
}

type DeploymentWithCommand = Awaited<ReturnType<ReturnType<typeof selectDeployments>['execute']>>[number];

function toDeployment(row: DeploymentWithCommand): Deployment {
  const command = toCommand(row);
  return {
    id: row.deployment_id,
    clusterId: command.clusterId,
    projectId: row.project_id,
    namespace: row.namespace,
    manifestSha256: row.manifest_sha256,
    dryRun: row.dry_run === 1,
    createdAt: command.createdAt,
    command,
  };
}
