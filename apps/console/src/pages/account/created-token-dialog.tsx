import type { CreatedApiToken } from '@svc/sdk';
import { SecretDialog } from '../../ui/secret-dialog.tsx';

export function CreatedTokenDialog({ token, onClose }: { token: CreatedApiToken | null; onClose: () => void }) {
  return (
    <SecretDialog
      title="Copy your token now"
      description="You won’t be able to see it again."
      noun="token"
      secret={token?.token ?? null}
      onClose={onClose}
    />
  );
}
