import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useStore } from '../../../api/object-store.ts';
import { storeKey } from '../../../api/query-keys.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { bucketNameFault, sanitizeBucketName } from './bucket-name.ts';

export function CreateBucketDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const name = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      initialFocus={name}
      title="New bucket"
      description="The name is part of the URL and cannot be changed later."
    >
      <CreateBucketForm nameRef={name} onDone={onClose} />
    </Dialog>
  );
}

interface CreateBucketFormProps {
  nameRef: React.RefObject<HTMLInputElement | null>;
  onDone: () => void;
}

function CreateBucketForm({ nameRef, onDone }: CreateBucketFormProps) {
  const store = useStore();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [encrypted, setEncrypted] = useState(true);
  const name = sanitizeBucketName(typed);
  const fault = bucketNameFault(typed);
  const creation = useMutation({
    mutationFn: () => store.buckets.create({ name, encryption_mode: encrypted ? 'sse-s3' : 'none' }),
    onSuccess: async (bucket) => {
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
      onDone();
      await navigate({ to: paths.bucket, params: { workspace: workspace.uuid, bucket: bucket.name } });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) creation.mutate();
      }}
    >
      <FieldStack>
        <TextField
          ref={nameRef}
          label="Name"
          value={typed}
          required
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          error={fault}
          hint={typed !== '' && name !== typed && fault === undefined ? `Will be created as “${name}”.` : undefined}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Switch
          label="Encrypt at rest"
          description="Encrypts each new object with its own key, protected by the platform’s keys."
          checked={encrypted}
          onChange={setEncrypted}
        />
      </FieldStack>
      <FormError error={creation.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={creation.isPending}>
          Create bucket
        </Button>
      </DialogActions>
    </form>
  );
}
