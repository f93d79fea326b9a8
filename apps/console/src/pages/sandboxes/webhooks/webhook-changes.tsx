import type { Webhook } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSandboxes, webhooksQuery } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';

interface ChangeDialogProps {
  webhook: Webhook | null;
  onClose: () => void;
}

export function DeleteWebhookDialog({ webhook, onClose }: ChangeDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: ({ id }: Webhook) => api.webhooks.delete(id),
    onSuccess: () => {
      close();
      done('Webhook deleted');
      return queryClient.invalidateQueries(webhooksQuery(api, workspace));
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={webhook !== null}
      onClose={close}
      onConfirm={() => {
        if (webhook !== null) deletion.mutate(webhook);
      }}
      title="Delete webhook?"
      action="Delete webhook"
      pending={deletion.isPending}
      error={deletion.error}
    >
      {webhook?.url} receives no more events, and the record of its deliveries is deleted. This cannot be undone.
    </ConfirmDialog>
  );
}

interface RotateSecretDialogProps extends ChangeDialogProps {
  onRotated: (secret: string) => void;
}

export function RotateSecretDialog({ webhook, onClose, onRotated }: RotateSecretDialogProps) {
  const api = useSandboxes();
  const rotation = useMutation({
    mutationFn: ({ id }: Webhook) => api.webhooks.rotateSecret(id),
    onSuccess: ({ secret }) => {
      close();
      onRotated(secret);
    },
  });
  const close = (): void => {
    rotation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={webhook !== null}
      onClose={close}
      onConfirm={() => {
        if (webhook !== null) rotation.mutate(webhook);
      }}
      title="Rotate the signing secret?"
      action="Rotate secret"
      pending={rotation.isPending}
      error={rotation.error}
    >
      For one day, requests to {webhook?.url} are signed with both secrets. Give the new one to the receiver before
      then.
    </ConfirmDialog>
  );
}
