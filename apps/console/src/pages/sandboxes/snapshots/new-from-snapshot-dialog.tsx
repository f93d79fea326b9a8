import type { Snapshot } from '@svc/sdk';
import { useMutation } from '@tanstack/react-query';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { NameDialog } from './name-dialog.tsx';
import { nameOf } from './snapshot-columns.tsx';
import { useOpened } from './use-opened.ts';

export function NewFromSnapshotDialog({ snapshot, onClose }: { snapshot: Snapshot | null; onClose: () => void }) {
  const api = useSandboxes();
  const opened = useOpened(onClose);
  const creation = useMutation({
    mutationFn: async (name: string) => {
      const request = { snapshot_id: snapshot?.id ?? '', ...(name !== '' && { name }) };
      return (await api.create(request, { waitMs: 0 })).id;
    },
    onSuccess: opened,
  });
  return (
    <NameDialog
      open={snapshot !== null}
      onClose={onClose}
      title="New sandbox"
      description={snapshot === null ? '' : `Starts with the files of ${nameOf(snapshot)}.`}
      action="Create sandbox"
      state={creation}
      onSubmit={creation.mutate}
    />
  );
}
