import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bucketKey, storeKey, useStore } from '../../../api/object-store.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { deleteEntries } from './delete-entries.ts';
import type { Entry } from './entries.ts';

export interface DeleteEntriesDialogProps {
  bucket: string;
  entries: readonly Entry[];
  onClose: () => void;
  onDeleted: () => void;
}

export function DeleteEntriesDialog({ bucket, entries, onClose, onDeleted }: DeleteEntriesDialogProps) {
  const store = useStore();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: () => deleteEntries(store.objects(bucket), entries),
    onSuccess: (count) => {
      close();
      onDeleted();
      done(count === 1 ? '1 object deleted' : `${count} objects deleted`);
    },
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  const folders = entries.filter(({ kind }) => kind === 'folder').length;
  const [only] = entries;
  const what = entries.length === 1 && only !== undefined ? only.name : `${entries.length} entries`;
  return (
    <ConfirmDialog
      open={entries.length > 0}
      onClose={close}
      onConfirm={() => deletion.mutate()}
      title={`Delete ${what}?`}
      action="Delete"
      pending={deletion.isPending}
      error={deletion.error}
      {...(folders > 0 ? { typeToConfirm: 'delete' } : {})}
    >
      {folders > 0 ? 'Everything in the folder goes with it. ' : ''}
      Where the bucket keeps versions, the older ones stay and can be brought back.
    </ConfirmDialog>
  );
}
