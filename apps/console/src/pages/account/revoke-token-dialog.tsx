import type { ApiToken } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { tokensQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useConfirmation } from '../../session/use-confirmation.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useToasts } from '../../ui/toast.tsx';

export function RevokeTokenDialog({ token, onClose }: { token: ApiToken | null; onClose: () => void }) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const { confirmed, confirmation } = useConfirmation();
  const revocation = useMutation({
    mutationFn: ({ id }: ApiToken) => confirmed(() => svc.accounts.revokeToken(id)),
    onSuccess: (_answer, { name }) => {
      close();
      done(`${name} revoked`);
      return queryClient.invalidateQueries(tokensQuery(svc));
    },
  });
  const close = (): void => {
    revocation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={token !== null}
      onClose={close}
      onConfirm={() => {
        if (token !== null) revocation.mutate(token);
      }}
      title={`Revoke ${token?.name ?? 'token'}?`}
      action="Revoke token"
      pending={revocation.isPending}
      error={revocation.error}
    >
      Programs that use this token, and the service accounts and access keys it created, lose access immediately. This
      cannot be undone.
      {confirmation}
    </ConfirmDialog>
  );
}
