import { resultOf, type ClusterInfo, type Deployment, type Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { paths } from '../../../routes/paths.ts';
import { Badge, Status } from '../../../ui/badge.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import { commandLabel, formatSummary } from './deployment-labels.ts';

export function deploymentColumns(workspace: Workspace, cluster: ClusterInfo): Column<Deployment>[] {
  const params = { workspace: workspace.uuid, cluster: cluster.id };
  return [
    {
      id: 'project',
      header: 'Project',
      cell: ({ id, project_id: project, namespace, dry_run: dryRun }) => (
        <TwoLines under={`in ${namespace}`}>
          <Link to={paths.clusterDeployment} params={{ ...params, deployment: id }}>
            {project}
          </Link>
          {dryRun && <Badge>dry run</Badge>}
        </TwoLines>
      ),
    },
    { id: 'status', header: 'Status', width: '8rem', cell: ({ status }) => <DeploymentStatus status={status} /> },
    {
      id: 'summary',
      header: 'Result',
      width: '18rem',
      wideOnly: true,
      cell: (deployment) => <span title={formatResult(deployment)}>{formatResult(deployment)}</span>,
    },
    {
      id: 'by',
      header: 'Created by',
      width: '9rem',
      wideOnly: true,
      cell: ({ created_by: by }) => <span title={by}>{by}</span>,
    },
    {
      id: 'when',
      header: 'Created',
      width: '7.5rem',
      narrowWidth: '6.5rem',
      cell: ({ created_at: at }) => (
        <span className="muted">
          <RelativeTime at={at} />
        </span>
      ),
    },
  ];
}

export function DeploymentStatus({ status }: Pick<Deployment, 'status'>) {
  const { label, tone, live } = commandLabel(status);
  return (
    <Status tone={tone} live={live}>
      {label}
    </Status>
  );
}

function formatResult(deployment: Deployment): string {
  if (deployment.error !== null) return deployment.error.message;
  const result = resultOf(deployment);
  return result === null ? '' : formatSummary(result.summary, deployment.dry_run);
}
