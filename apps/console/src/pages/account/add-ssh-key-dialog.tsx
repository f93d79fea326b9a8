import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent, type RefObject } from 'react';
import { sshKeysQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useConfirmation } from '../../session/use-confirmation.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import { useToasts } from '../../ui/toast.tsx';

interface AddSshKeyDialogProps {
  open: boolean;
  onClose: () => void;
}

export function AddSshKeyDialog({ open, onClose }: AddSshKeyDialogProps) {
  const key = useRef<HTMLTextAreaElement>(null);
  return (
    <Dialog open={open} onClose={onClose} title="Add SSH key" initialFocus={key}>
      <AddSshKeyForm keyRef={key} onClose={onClose} />
    </Dialog>
  );
}

function AddSshKeyForm({ keyRef, onClose }: { keyRef: RefObject<HTMLTextAreaElement | null>; onClose: () => void }) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const { confirmed, confirmation } = useConfirmation();
  const [publicKey, setPublicKey] = useState('');
  const [typedName, setTypedName] = useState<string | null>(null);
  const name = typedName ?? commentOf(publicKey);
  const addition = useMutation({
    mutationFn: (key: { name: string; publicKey: string }) => confirmed(() => svc.accounts.addSshKey(key)),
    onSuccess: (added) => {
      onClose();
      done(`${added.name} added`);
      return queryClient.invalidateQueries(sshKeysQuery(svc));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    addition.mutate({ name: name.trim(), publicKey: publicKey });
  };
  return (
    <>
      <form onSubmit={submit}>
        <FieldStack>
          <TextArea
            ref={keyRef}
            label="Public key"
            required
            rows={4}
            maxLength={4096}
            autoComplete="off"
            placeholder="ssh-ed25519 AAAA…"
            hint="The content of a .pub file, such as ~/.ssh/id_ed25519.pub. Ed25519, ECDSA, or RSA with 2048 bits or more."
            value={publicKey}
            onChange={({ currentTarget }) => setPublicKey(currentTarget.value)}
          />
          <TextField
            label="Name"
            required
            maxLength={100}
            autoComplete="off"
            placeholder="laptop"
            value={name}
            onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
          />
        </FieldStack>
        <FormError error={addition.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={addition.isPending}>
            Add key
          </Button>
        </DialogActions>
      </form>
      {confirmation}
    </>
  );
}

/** What follows type and key in a `.pub` file. */
function commentOf(publicKey: string): string {
  return publicKey.trim().split(/\s+/).slice(2).join(' ').slice(0, 100);
}
