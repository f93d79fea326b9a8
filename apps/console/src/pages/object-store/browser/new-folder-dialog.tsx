import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useStore } from '../../../api/object-store.ts';
import { bucketKey } from '../../../api/query-keys.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { folderNameFault } from './folder-path.ts';

export interface NewFolderDialogProps {
  open: boolean;
  bucket: string;
  prefix: string;
  onClose: () => void;
}

export function NewFolderDialog({ open, ...form }: NewFolderDialogProps) {
  const name = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      open={open}
      onClose={form.onClose}
      initialFocus={name}
      title="New folder"
      description="A folder is an empty object whose key ends with a slash."
    >
      <NewFolderForm nameRef={name} {...form} />
    </Dialog>
  );
}

type NewFolderFormProps = Omit<NewFolderDialogProps, 'open'> & { nameRef: React.RefObject<HTMLInputElement | null> };

function NewFolderForm({ bucket, prefix, onClose, nameRef }: NewFolderFormProps) {
  const store = useStore();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const name = typed.trim().replace(/(?<!\/)\/+$/, '');
  const fault = folderNameFault(name);
  const creation = useMutation({
    mutationFn: () => store.objects(bucket).createFolder(`${prefix}${name}/`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined && name !== '') creation.mutate();
      }}
    >
      <TextField
        ref={nameRef}
        label="Name"
        value={typed}
        required
        maxLength={500}
        autoComplete="off"
        spellCheck={false}
        error={fault}
        onChange={(event) => setTyped(event.target.value)}
      />
      <FormError error={creation.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={creation.isPending}>
          Create folder
        </Button>
      </DialogActions>
    </form>
  );
}
