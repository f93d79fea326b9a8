import type { ClusterInfo } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { clustersKey, useClusters } from '../../../api/clusters.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { ActionPanel } from '../../../ui/page.tsx';
import { useToasts } from '../../../ui/toast.tsx';

export function DeleteClusterPanel({ cluster }: { cluster: ClusterInfo }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { done } = useToasts();
  const [asking, setAsking] = useState(false);
  const removal = useMutation({
    mutationFn: () => api.of(cluster.id).delete(),
    onSuccess: async () => {
      setAsking(false);
      done(`${cluster.name} deleted`);
      await navigate({ to: paths.clusters, params: { workspace: workspace.uuid } });
      await queryClient.invalidateQueries({ queryKey: [...clustersKey(workspace), 'list'] });
    },
  });
  return (
    <>
      <ActionPanel
        title="Delete cluster"
        description="Deletes its history and revokes the agent token. Workloads in the cluster keep running."
        action={
          <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setAsking(true)}>
            Delete cluster…
          </Button>
        }
      />
      <ConfirmDialog
        open={asking}
        onClose={() => {
          removal.reset();
          setAsking(false);
        }}
        onConfirm={() => removal.mutate()}
        title={`Delete ${cluster.name}?`}
        action="Delete cluster"
        pending={removal.isPending}
        error={removal.error}
        typeToConfirm={cluster.name}
      >
        Deletes its deployments, events and metrics from this platform and revokes the agent token. Workloads in the
        cluster keep running. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
