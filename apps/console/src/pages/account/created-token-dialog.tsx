import type { CreatedApiToken } from '@svc/sdk';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

/** The only place that ever shows the token; a click beside the dialog does not close it. */
export function CreatedTokenDialog({ token, onClose }: { token: CreatedApiToken | null; onClose: () => void }) {
  return (
    <Dialog
      open={token !== null}
      onClose={onClose}
      dismissible={false}
      title="Copy your token now"
      description="It is not kept in readable form and cannot be shown again."
    >
      {token !== null && <CopyField label="Token" labelHidden value={token.token} shape="block" />}
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
