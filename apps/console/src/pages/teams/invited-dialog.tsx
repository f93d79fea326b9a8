import type { CreatedInvitation } from '@svc/sdk';
import { SecretDialog } from '../../ui/secret-dialog.tsx';

export function InvitedDialog({ invitation, onClose }: { invitation: CreatedInvitation | null; onClose: () => void }) {
  return (
    <SecretDialog
      title="Hand over this link"
      description={`It works once, for ${invitation?.email ?? ''}, and cannot be shown again.`}
      noun="link"
      secret={invitation?.url ?? null}
      onClose={onClose}
    />
  );
}
