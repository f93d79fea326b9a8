import type { CreatedApiToken } from '@svc/sdk';
import { SecretDialog } from '../../ui/secret-dialog.tsx';

export function CreatedTokenDialog({ token, onClose }: { token: CreatedApiToken | null; onClose: () => void }) {
  return (
    <SecretDialog
      title="Copy your token now"
      description="It is not kept in readable form and cannot be shown again."
      noun="token"
      secret={token?.token ?? null}
      onClose={onClose}
    />
  );
}
