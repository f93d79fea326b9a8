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
      done(`${cluster.name} is removed`);
      await navigate({ to: paths.clusters, params: { workspace: workspace.uuid } });
      await queryClient.invalidateQueries({ queryKey: [...clustersKey(workspace), 'list'] });
    },
  });
  return (
    <>
      <ActionPanel
        title="Remove this cluster"
        description="Its history goes for good and its agent is sent away. What runs in the cluster goes on running."
        action={
          <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setAsking(true)}>
            Remove
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
        title={`Remove ${cluster.name}?`}
        action="Remove"
        pending={removal.isPending}
        error={removal.error}
        typeToConfirm={cluster.name}
      >
        Deployments, events and heartbeats of it are deleted here, and the token of its agent ends. This cannot be
        undone.
      </ConfirmDialog>
    </>
  );
}
