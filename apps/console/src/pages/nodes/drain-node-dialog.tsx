import type { PlatformNode } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nodesQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { nodeName } from './node-labels.ts';

export function DrainNodeDialog({ node, onClose }: { node: PlatformNode | null; onClose: () => void }) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const drain = useMutation({
    mutationFn: ({ id }: PlatformNode) => svc.nodes.drain(id),
    onSuccess: (_answer, drained) => {
      close();
      done(`${nodeName(drained)} is being drained`);
      return queryClient.invalidateQueries(nodesQuery(svc));
    },
  });
  const close = (): void => {
    drain.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={node !== null}
      onClose={close}
      onConfirm={() => {
        if (node !== null) drain.mutate(node);
      }}
      title={node === null ? 'Drain node?' : `Drain ${nodeName(node)}?`}
      action="Drain node"
      pending={drain.isPending}
      error={drain.error}
    >
      Running sandboxes are stopped after a notice, and no new ones start here. Files are kept. Sandboxes set to
      snapshot or move do so. The drain lasts until you end it, even across restarts.
    </ConfirmDialog>
  );
}
