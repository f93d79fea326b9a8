import type { ClusterInfo, RotatedToken } from '@svc/sdk';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Connect } from '../add/add-cluster-dialog.tsx';

export interface InstallButtonProps {
  cluster: ClusterInfo;
  variant?: 'primary' | 'secondary';
}

/** Shows the install commands again. Issues a new token, because only the hash of the old one is stored. */
export function InstallButton({ cluster, variant = 'secondary' }: InstallButtonProps) {
  const api = useClusters();
  const [open, setOpen] = useState(false);
  const [issued, setIssued] = useState<RotatedToken | null>(null);
  const rotation = useMutation({
    mutationFn: () => api.of(cluster.id).rotateToken({ overlapSeconds: 0 }),
    onSuccess: setIssued,
  });
  const close = (): void => {
    rotation.reset();
    setOpen(false);
    setIssued(null);
  };
  return (
    <>
      <Button variant={variant} onClick={() => setOpen(true)}>
        Show install commands
      </Button>
      <Dialog
        open={open}
        onClose={close}
        width={issued === null ? 'normal' : 'wide'}
        dismissible={issued === null}
        title={issued === null ? 'Show install commands' : `Connect ${cluster.name}`}
        description={
          issued === null
            ? 'The commands contain a new agent token. The current token stops working immediately.'
            : 'Run these commands on a machine with kubectl access to the cluster. The token is shown only once.'
        }
      >
        {issued === null ? (
          <>
            <FormError error={rotation.error} />
            <DialogActions>
              <Button onClick={close}>Cancel</Button>
              <Button variant="primary" pending={rotation.isPending} onClick={() => rotation.mutate()}>
                Create new token
              </Button>
            </DialogActions>
          </>
        ) : (
          <Connect issued={issued} onClose={close} />
        )}
      </Dialog>
    </>
  );
}
