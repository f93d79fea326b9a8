import type { CreatedAccessKey } from '@svc/sdk';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack } from '../../../ui/field.tsx';

/** Shows a key's secret for the only time, so clicking outside does not close it. */
export function CreatedKeyDialog({ created, onClose }: { created: CreatedAccessKey | null; onClose: () => void }) {
  return (
    <Dialog
      open={created !== null}
      onClose={onClose}
      dismissible={false}
      title="Copy your key now"
      description="You won’t be able to see the secret again."
    >
      <FieldStack>
        <CopyField label="Access key ID" value={created?.accessKeyId ?? ''} />
        <CopyField label="Secret access key" value={created?.secretAccessKey ?? ''} />
        <CopyField label="Endpoint" value={created?.s3_endpoint ?? ''} />
        <CopyField label="Region" value={created?.region ?? ''} />
      </FieldStack>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
