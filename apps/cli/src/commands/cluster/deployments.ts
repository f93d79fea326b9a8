import type { Deployment } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { renderAge } from './render.ts';
import { readCount, withClusters } from './with-clusters.ts';

interface DeploymentFlags extends ConnectionFlags {
  project?: string;
  limit: string;
}

const COLUMNS = ['ID', 'PROJECT', 'NAMESPACE', 'STATUS', 'AGE', 'BY', 'ERROR'];
const MAX_PAGE_SIZE = 200;

export function registerClusterDeployments(parent: Command): void {
  addConnectionOptions(parent.command('deployments'))
    .description('List deployments, newest first')
    .argument('<cluster>', 'Cluster name or ID')
    .option('--project <id>', 'Filter by project')
    .option('--limit <count>', 'Maximum number of deployments', '20')
    .action((name: string, flags: DeploymentFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const pageSize = Math.min(MAX_PAGE_SIZE, Math.max(1, readCount(flags.limit, '--limit')));
        const query = { pageSize, ...(flags.project === undefined ? {} : { projectId: flags.project }) };
        const { items } = await clusters.of(name).deployments(query, { signal });
        const nowMs = Date.now();
        output.answerTable(
          items,
          COLUMNS,
          items.map((deployment) => renderRow(deployment, nowMs)),
        );
      }),
    );
}

function renderRow(deployment: Deployment, nowMs: number): string[] {
  const { id, project_id: project, namespace, status, dry_run: isDryRun, created_by: by, error } = deployment;
  const state = isDryRun ? `${status} (dry run)` : status;
  return [id, project, namespace, state, renderAge(deployment.created_at, nowMs), by, error?.message ?? ''];
}
