import type { CustomDomain } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useStore } from '../../../api/object-store.ts';
import { storeKey } from '../../../api/query-keys.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';

export interface AddDomainDialogProps {
  open: boolean;
  onClose: () => void;
  onAdded: (domain: CustomDomain) => void;
}

export function AddDomainDialog({ open, onClose, onAdded }: AddDomainDialogProps) {
  const store = useStore();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const hostname = useRef<HTMLInputElement>(null);
  const addition = useMutation({
    mutationFn: (name: string) => store.domains.add(bucket, name),
    onSuccess: async (domain) => {
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
      onAdded(domain);
    },
  });
  return (
    <Dialog
      open={open}
      onClose={() => {
        addition.reset();
        onClose();
      }}
      initialFocus={hostname}
      title="Add domain"
      description="Enter a hostname you own. You will prove ownership with a DNS record."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          addition.mutate(formText(event.currentTarget, 'hostname').trim());
        }}
      >
        <TextField
          ref={hostname}
          label="Hostname"
          name="hostname"
          required
          maxLength={253}
          placeholder="files.example.com"
          autoComplete="off"
          spellCheck={false}
        />
        <FormError error={addition.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={addition.isPending}>
            Add domain
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
