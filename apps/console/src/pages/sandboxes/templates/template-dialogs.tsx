import { useMutation, useQueryClient } from '@tanstack/react-query';
import { templatesQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { NameDialog } from '../snapshots/name-dialog.tsx';
import { useOpened } from '../snapshots/use-opened.ts';

export interface TemplateDialogProps {
  /** Name of the template; null while the dialog is closed. */
  name: string | null;
  onClose: () => void;
}

export function NewFromTemplateDialog({ name: template, onClose }: TemplateDialogProps) {
  const api = useSandboxes();
  const opened = useOpened(onClose);
  const creation = useMutation({
    mutationFn: async (name: string) => {
      const request = { template: template ?? '', ...(name !== '' && { name }) };
      return (await api.create(request, { waitMs: 0 })).id;
    },
    onSuccess: opened,
  });
  return (
    <NameDialog
      open={template !== null}
      onClose={onClose}
      title="New sandbox"
      description={`Starts from the template ${template ?? ''}.`}
      action="Create sandbox"
      state={creation}
      onSubmit={creation.mutate}
    />
  );
}

export function DeleteTemplateDialog({ name, onClose }: TemplateDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: (deleted: string) => api.templates.delete(deleted),
    onSuccess: (_answer, deleted) => {
      close();
      done(`${deleted} deleted`);
      return queryClient.invalidateQueries({ queryKey: templatesQuery(api, workspace).queryKey });
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={name !== null}
      onClose={close}
      onConfirm={() => {
        if (name !== null) deletion.mutate(name);
      }}
      title={`Delete ${name ?? ''}?`}
      action="Delete template"
      pending={deletion.isPending}
      error={deletion.error}
    >
      Deletes all its builds. Sandboxes created from it are not affected. This cannot be undone.
    </ConfirmDialog>
  );
}
