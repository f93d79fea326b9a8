import type { ClusterInfo, RotatedToken } from '@svc/sdk';
import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { ActionPanel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';

export function RotateTokenPanel({ cluster }: { cluster: ClusterInfo }) {
  const [open, setOpen] = useState(false);
  const [issued, setIssued] = useState<RotatedToken | null>(null);
  const close = (): void => {
    setOpen(false);
    setIssued(null);
  };
  return (
    <>
      <ActionPanel
        title="Agent token"
        description="Issue a new token and choose when the old one expires."
        action={
          <Button icon={<KeyRound size={15} />} onClick={() => setOpen(true)}>
            Rotate token
          </Button>
        }
      />
      <Dialog
        open={open}
        onClose={close}
        width={issued === null ? 'normal' : 'wide'}
        dismissible={issued === null}
        title={issued === null ? 'Rotate token' : 'New agent token'}
        description={
          issued === null
            ? 'An agent with an expired token cannot connect until it gets the new one.'
            : 'Shown only once. The command updates the Secret; a running agent picks it up without a restart.'
        }
      >
        {issued === null ? (
          <RotateForm cluster={cluster} onIssued={setIssued} onCancel={close} />
        ) : (
          <>
            <FieldStack>
              <CopyField label="Agent token" value={issued.token} />
              <CodeBlock label="Command to update the Secret" text={issued.install.secret.trimEnd()} />
            </FieldStack>
            <DialogActions>
              <Button variant="primary" onClick={close}>
                Done
              </Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </>
  );
}

const OVERLAPS = [
  { value: '0', label: 'Immediately' },
  { value: '3600', label: 'After 1 hour' },
  { value: '86400', label: 'After 1 day' },
] as const;

interface RotateFormProps {
  cluster: ClusterInfo;
  onIssued: (issued: RotatedToken) => void;
  onCancel: () => void;
}

function RotateForm({ cluster, onIssued, onCancel }: RotateFormProps) {
  const api = useClusters();
  const [overlap, setOverlap] = useState<'0' | '3600' | '86400'>('3600');
  const rotation = useMutation({
    mutationFn: () => api.of(cluster.id).rotateToken({ overlapSeconds: Number(overlap) }),
    onSuccess: onIssued,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!rotation.isPending) rotation.mutate();
      }}
    >
      <Select label="Old token expires" options={OVERLAPS} value={overlap} onChange={setOverlap} />
      <FormError error={rotation.error} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={rotation.isPending}>
          Rotate token
        </Button>
      </DialogActions>
    </form>
  );
}
