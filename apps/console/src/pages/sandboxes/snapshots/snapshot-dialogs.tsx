import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxesKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { useToasts } from '../../../ui/toast.tsx';
import { NameDialog } from './name-dialog.tsx';
import { nameOf } from './snapshot-columns.tsx';
import { useOpened } from './use-opened.ts';

interface SandboxDialogProps {
  open: boolean;
  sandbox: Sandbox;
  onClose: () => void;
}

export function TakeSnapshotDialog({ open, sandbox, onClose }: SandboxDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const taking = useMutation({
    mutationFn: (name: string) => api.of(sandbox.id).snapshot(name === '' ? {} : { name }),
    onSuccess: async (snapshot) => {
      await queryClient.invalidateQueries({ queryKey: sandboxesKey(workspace) });
      done(`Snapshot ${nameOf(snapshot)} taken`);
      onClose();
    },
  });
  return (
    <NameDialog
      open={open}
      onClose={onClose}
      title="Take snapshot"
      description={`Saves the current files of ${sandbox.name}. Running processes are not affected.`}
      action="Take snapshot"
      state={taking}
      onSubmit={taking.mutate}
    />
  );
}

export function ForkDialog({ open, sandbox, onClose }: SandboxDialogProps) {
  const api = useSandboxes();
  const opened = useOpened(onClose);
  const forking = useMutation({
    mutationFn: async (name: string) => {
      const [first] = await api.of(sandbox.id).fork(name === '' ? {} : { name });
      return first?.id ?? null;
    },
    onSuccess: opened,
  });
  return (
    <NameDialog
      open={open}
      onClose={onClose}
      title={`Fork ${sandbox.name}`}
      description="Creates a sandbox with the same files and settings. The two are independent from then on."
      action="Fork"
      state={forking}
      onSubmit={forking.mutate}
    />
  );
}
