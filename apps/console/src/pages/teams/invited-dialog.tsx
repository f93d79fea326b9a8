import type { CreatedInvitation } from '@svc/sdk';
import { SecretDialog } from '../../ui/secret-dialog.tsx';

export function InvitedDialog({ invitation, onClose }: { invitation: CreatedInvitation | null; onClose: () => void }) {
  return (
    <SecretDialog
      title="Share this link"
      description={`It works once, for ${invitation?.email ?? ''}. You won’t be able to see it again.`}
      noun="link"
      secret={invitation?.url ?? null}
      onClose={onClose}
    />
  );
}
