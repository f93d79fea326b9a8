import { NotFoundError, type ClusterInfo, type Deployment } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ChevronLeft, CircleSlash } from 'lucide-react';
import { useState } from 'react';
import { clusterKey, isFinished, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Definitions, Panel, Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRegion } from '../../../ui/states.tsx';
import { AbsoluteTime } from '../../../ui/time.tsx';
import { DeploymentReport } from './deployment-report.tsx';
import styles from './deployments.module.css';
import { useDeployment } from './use-deployment.ts';

export function DeploymentPage() {
  const cluster = useCluster();
  const workspace = useWorkspace();
  const { deployment: id } = useParams({ strict: false });
  if (id === undefined) throw new Error('the page has no deployment in its path');
  const { deployment, progress } = useDeployment(cluster.id, id);
  if (deployment.data === undefined) {
    if (deployment.error instanceof NotFoundError) return <NoSuchDeployment />;
    if (deployment.isError) return <ErrorState error={deployment.error} onRetry={() => void deployment.refetch()} />;
    return <LoadingRegion height="16rem" />;
  }
  const { data } = deployment;
  return (
    <>
      <div className={styles['stack']}>
        <Link
          to={paths.clusterDeployments}
          params={{ workspace: workspace.uuid, cluster: cluster.id }}
          className={styles['back']}
        >
          <ChevronLeft size={13} /> All deployments
        </Link>
        <header className={styles['head']}>
          <div className={styles['headWords']}>
            <h2>{data.project_id}</h2>
            {data.dry_run && <Badge>dry run</Badge>}
            <span className="muted">in {data.namespace}</span>
          </div>
          {!isFinished(data) && mayWrite(workspace) && <CancelButton cluster={cluster} deployment={data} />}
        </header>
        <DeploymentReport deployment={data} progress={progress} />
      </div>
      <Section title="Details">
        <Panel>
          <Definitions items={renderFacts(data)} />
        </Panel>
      </Section>
    </>
  );
}

function NoSuchDeployment() {
  return (
    <Panel padded={false}>
      <EmptyState title="Deployment not found">
        It may have been deleted: old deployments are removed after a while.
      </EmptyState>
    </Panel>
  );
}

function CancelButton({ cluster, deployment }: { cluster: ClusterInfo; deployment: Deployment }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const cancel = useMutation({
    mutationFn: () => api.of(cluster.id).cancelDeployment(deployment.id),
    onSuccess: () => setAsking(false),
    onSettled: () => queryClient.invalidateQueries({ queryKey: clusterKey(workspace, cluster.id) }),
  });
  const isAsked = deployment.cancel_requested_at !== null;
  return (
    <>
      <Button icon={<CircleSlash size={15} />} disabled={isAsked} onClick={() => setAsking(true)}>
        {isAsked ? 'Cancelling…' : 'Cancel'}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => cancel.mutate()}
        title={`Cancel the deployment of ${deployment.project_id}?`}
        action="Cancel deployment"
        cancelLabel="Keep running"
        pending={cancel.isPending}
        error={cancel.error}
      >
        Resources that were already applied stay as they are. The rest is skipped.
      </ConfirmDialog>
    </>
  );
}

function renderFacts(deployment: Deployment) {
  const at = (time: string | null) => (time === null ? 'Not yet' : <AbsoluteTime at={time} />);
  const revision = deployment.result?.['revision'];
  return [
    ['ID', <code key="id">{deployment.id}</code>],
    ['Created', at(deployment.created_at)],
    ['Created by', deployment.created_by],
    ['Sent', at(deployment.sent_at)],
    ['Accepted', at(deployment.acknowledged_at)],
    ['Finished', at(deployment.finished_at)],
    ...(typeof revision === 'string' ? [['Revision', revision] as const] : []),
    ['Manifest SHA-256', <code key="sha">{deployment.manifest_sha256}</code>],
  ] as const;
}
