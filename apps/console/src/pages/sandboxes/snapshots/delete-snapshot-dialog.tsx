import type { Snapshot } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { snapshotsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { nameOf } from './snapshot-columns.tsx';

export function DeleteSnapshotDialog({ snapshot, onClose }: { snapshot: Snapshot | null; onClose: () => void }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: ({ id }: Snapshot) => api.snapshots.delete(id),
    onSuccess: (_answer, deleted) => {
      close();
      done(`${nameOf(deleted)} deleted`);
      return queryClient.invalidateQueries({ queryKey: snapshotsQuery(api, workspace).queryKey });
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={snapshot !== null}
      onClose={close}
      onConfirm={() => {
        if (snapshot !== null) deletion.mutate(snapshot);
      }}
      title={`Delete ${snapshot === null ? '' : nameOf(snapshot)}?`}
      action="Delete snapshot"
      pending={deletion.isPending}
      error={deletion.error}
    >
      Sandboxes created from it are not affected. This cannot be undone.
    </ConfirmDialog>
  );
}
