import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxesKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { runConcurrently } from './run-concurrently.ts';

export interface ChangeSandboxesDialogProps {
  change: 'stop' | 'delete';
  /** Empty if the dialog is closed. */
  sandboxes: readonly Sandbox[];
  onClose: () => void;
  onDone?: () => void;
}

/** Confirms stopping or deleting one or more sandboxes. */
export function ChangeSandboxesDialog({ change, sandboxes, onClose, onDone }: ChangeSandboxesDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const act = useMutation({
    mutationFn: async () => {
      const concerned = change === 'stop' ? sandboxes.filter(canStop) : sandboxes;
      const result = await runConcurrently<Sandbox>(concerned, ({ id }) =>
        change === 'stop' ? api.of(id).stop() : api.of(id).delete(),
      );
      if (result.failed > 0) throw result.error;
      return result.done;
    },
    onSuccess: (count) => {
      done(
        `${count === 1 ? (sandboxes[0]?.name ?? '1 sandbox') : `${count} sandboxes`} ${change === 'stop' ? 'stopped' : 'deleted'}`,
      );
      close();
      onDone?.();
    },
    // Don't refetch deleted sandboxes.
    onSettled: () =>
      queryClient.invalidateQueries({
        queryKey: change === 'stop' ? sandboxesKey(workspace) : [...sandboxesKey(workspace), 'list'],
      }),
  });
  const close = (): void => {
    act.reset();
    onClose();
  };
  const [only] = sandboxes;
  const what = sandboxes.length === 1 && only !== undefined ? only.name : `${sandboxes.length} sandboxes`;
  return (
    <ConfirmDialog
      key={sandboxes.map(({ id }) => id).join()}
      open={sandboxes.length > 0}
      onClose={close}
      onConfirm={() => act.mutate()}
      title={`${change === 'stop' ? 'Stop' : 'Delete'} ${what}?`}
      action={change === 'stop' ? 'Stop' : 'Delete'}
      pending={act.isPending}
      error={act.error}
      names={sandboxes.map(({ name }) => name)}
      {...(change === 'delete' && sandboxes.length > 3 ? { typeToConfirm: 'delete' } : {})}
    >
      {change === 'stop'
        ? 'Running processes end. Files are kept, and you can start again at any time.'
        : 'Running processes and all files are deleted permanently. Snapshots are kept. This cannot be undone.'}
    </ConfirmDialog>
  );
}

function canStop({ status }: Sandbox): boolean {
  return status === 'running' || status === 'creating';
}
