import { useMutation, useQueryClient } from '@tanstack/react-query';
import { filesKey } from '../../../api/query-keys.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { filesOf, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { runConcurrently } from '../list/run-concurrently.ts';
import type { FileRow } from './file-columns.tsx';

export interface DeleteFilesDialogProps {
  owner: FileOwner;
  /** Empty if the dialog is closed. */
  entries: readonly FileRow[];
  onClose: () => void;
  onDeleted: () => void;
}

export function DeleteFilesDialog({ owner, entries, onClose, onDeleted }: DeleteFilesDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const files = filesOf(api, owner);
  const deletion = useMutation({
    mutationFn: async () => {
      const result = await runConcurrently(entries, ({ path }) => files.remove(path, { missingOk: true }));
      if (result.failed > 0) throw result.error;
      return result.done;
    },
    onSuccess: (count) => {
      done(count === 1 ? `${entries[0]?.name ?? '1 item'} deleted` : `${count} items deleted`);
      close();
      onDeleted();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: filesKey(workspace, owner) }),
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  const [only] = entries;
  const hasFolder = entries.some((entry) => entry.is_dir);
  return (
    <ConfirmDialog
      open={entries.length > 0}
      onClose={close}
      onConfirm={() => deletion.mutate()}
      title={`Delete ${entries.length === 1 && only !== undefined ? only.name : `${entries.length} items`}?`}
      action="Delete"
      pending={deletion.isPending}
      error={deletion.error}
      names={entries.map(({ name, is_dir: isFolder }) => (isFolder ? `${name}/` : name))}
    >
      {hasFolder ? 'Folders are deleted with everything in them. ' : ''}This cannot be undone.
    </ConfirmDialog>
  );
}
