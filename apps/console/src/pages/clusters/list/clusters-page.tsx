import type { ClusterInfo } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Network, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { clustersQuery, useClusters } from '../../../api/clusters.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { AddClusterDialog } from '../add/add-cluster-dialog.tsx';
import { ONLY_ADMINISTRATORS } from '../detail/cluster-labels.ts';
import { clusterColumns } from './cluster-columns.tsx';

const route = getRouteApi('/shell/w/$workspace/clusters');

export function ClustersPage() {
  const workspace = useWorkspace();
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (shown: boolean): void =>
    void navigate({ search: shown ? { create: true } : {}, replace: true, resetScroll: false });
  const add = administers(workspace) && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => open(true)}>
      Add cluster
    </Button>
  );
  return (
    <Page
      title="Clusters"
      description="Kubernetes clusters connected by an agent, no inbound ports needed."
      actions={add}
    >
      <ClusterList action={add} />
      <AddClusterDialog open={create === true && administers(workspace)} onClose={() => open(false)} />
    </Page>
  );
}

function ClusterList({ action }: { action: ReactNode }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const clusters = useQuery(clustersQuery(api, workspace));
  if (clusters.isError && clusters.data === undefined) {
    return <ErrorState error={clusters.error} onRetry={() => void clusters.refetch()} />;
  }
  return (
    <Table<ClusterInfo>
      caption="Clusters"
      columns={clusterColumns(workspace)}
      rows={clusters.data}
      rowKey={({ id }) => id}
      empty={
        <EmptyState icon={<Network size={18} />} title="No clusters yet" action={action}>
          Install an agent to see what runs in a cluster and deploy manifests to it.
          {action === false && ` ${ONLY_ADMINISTRATORS}`}
        </EmptyState>
      }
    />
  );
}
