import type { PlatformNode } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Server } from 'lucide-react';
import { useState } from 'react';
import { nodesQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useSession } from '../../session/use-session.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { DrainNodeDialog } from './drain-node-dialog.tsx';
import { nodeColumns } from './node-columns.tsx';
import { nodeName } from './node-labels.ts';

/** Replicas and nodes for sandboxes, for operators. */
export function NodesPage() {
  const { me } = useSession();
  return (
    <Page
      title="Nodes"
      description="Platform replicas and their sandboxes. Drain a node before you service its machine."
    >
      {me.user.operator ? <NodeTable /> : <EmptyState icon={<Server size={18} />} title="Only operators see nodes" />}
    </Page>
  );
}

function NodeTable() {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const nodes = useQuery(nodesQuery(svc));
  const { done, failed } = useToasts();
  const [draining, setDraining] = useState<PlatformNode | null>(null);
  const undrain = useMutation({
    mutationFn: ({ id }: PlatformNode) => svc.nodes.undrain(id),
    onSuccess: (_answer, node) => {
      done(`${nodeName(node)} starts sandboxes again`);
      return queryClient.invalidateQueries(nodesQuery(svc));
    },
    onError: (error) => failed('Could not end the drain', error),
  });
  if (nodes.isError) return <ErrorState error={nodes.error} onRetry={() => void nodes.refetch()} />;
  const { data } = nodes;
  return (
    <>
      <Table
        caption="Nodes"
        columns={nodeColumns(data?.work ?? [], { onDrain: setDraining, onUndrain: (node) => undrain.mutate(node) })}
        rows={data?.nodes}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={<Server size={18} />} title="No nodes" />}
      />
      <DrainNodeDialog node={draining} onClose={() => setDraining(null)} />
    </>
  );
}
