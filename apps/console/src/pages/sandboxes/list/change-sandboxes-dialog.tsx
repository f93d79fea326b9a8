import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sandboxesKey, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { eachOf } from './each-of.ts';

export interface ChangeSandboxesDialogProps {
  change: 'stop' | 'delete';
  /** Empty: the dialog is closed. */
  sandboxes: readonly Sandbox[];
  onClose: () => void;
  onDone?: () => void;
}

/** Asks before sandboxes are stopped or deleted, one or many. */
export function ChangeSandboxesDialog({ change, sandboxes, onClose, onDone }: ChangeSandboxesDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const act = useMutation({
    mutationFn: async () => {
      const concerned = change === 'stop' ? sandboxes.filter(canStop) : sandboxes;
      const result = await eachOf<Sandbox>(concerned, ({ id }) =>
        change === 'stop' ? api.of(id).stop() : api.of(id).delete(),
      );
      if (result.failed > 0) throw result.error;
      return result.done;
    },
    onSuccess: (count) => {
      done(`${count === 1 ? (sandboxes[0]?.name ?? 'It') : `${count} sandboxes`} ${wasDone(change, count)}`);
      close();
      onDone?.();
    },
    // Those that are gone are not asked for again.
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
      {...(change === 'delete' && sandboxes.length > 3 ? { typeToConfirm: 'delete' } : {})}
    >
      {change === 'stop'
        ? 'What runs in them ends. Their files are kept, and they can be started again.'
        : 'Its files and everything that runs in it go at once and for good.'}
    </ConfirmDialog>
  );
}

function canStop({ status }: Sandbox): boolean {
  return status === 'running' || status === 'creating';
}

function wasDone(change: 'stop' | 'delete', count: number): string {
  return `${count === 1 ? 'is' : 'are'} ${change === 'stop' ? 'stopped' : 'deleted'}`;
}
