import type { CreatedInvitation } from '@svc/sdk';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

/** The only place that ever shows the link; a click beside the dialog does not close it. */
export function InvitedDialog({ invitation, onClose }: { invitation: CreatedInvitation | null; onClose: () => void }) {
  return (
    <Dialog
      open={invitation !== null}
      onClose={onClose}
      dismissible={false}
      title="Hand over this link"
      description={`It works once, for ${invitation?.email ?? ''}, and cannot be shown again.`}
    >
      {invitation !== null && <CopyField label="Link" labelHidden value={invitation.url} shape="block" />}
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
