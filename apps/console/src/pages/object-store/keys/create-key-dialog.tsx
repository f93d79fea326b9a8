import type { CreatedAccessKey, KeyPermission } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { bucketsQuery, keysQuery, useStore } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Select } from '../../../ui/select.tsx';
import styles from './keys.module.css';

export interface CreateKeyDialogProps {
  open: boolean;
  onClose: () => void;
  onCreated: (key: CreatedAccessKey) => void;
}

export function CreateKeyDialog({ open, ...form }: CreateKeyDialogProps) {
  const label = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      open={open}
      onClose={form.onClose}
      initialFocus={label}
      title="New access key"
      description="An access key ID and secret for S3 clients."
    >
      <CreateKeyForm labelRef={label} {...form} />
    </Dialog>
  );
}

const ROLES = [
  { value: 'read', label: 'Read', description: 'List and download.' },
  { value: 'write', label: 'Read and write', description: 'Also upload and delete objects.' },
  { value: 'admin', label: 'Full access', description: 'Also configure and delete buckets. Applies to all buckets.' },
] as const;

type Role = (typeof ROLES)[number]['value'];

const PERMISSIONS: Readonly<Record<Role, KeyPermission[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
};

const LIFETIMES = [
  { value: 'never', label: 'No expiration' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
] as const;

type CreateKeyFormProps = Omit<CreateKeyDialogProps, 'open'> & { labelRef: React.RefObject<HTMLInputElement | null> };

function CreateKeyForm({ labelRef, onClose, onCreated }: CreateKeyFormProps) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { data: buckets = [] } = useQuery(bucketsQuery(svc, workspace));
  const [label, setLabel] = useState('');
  const [role, setRole] = useState<Role>('write');
  const [lifetime, setLifetime] = useState<(typeof LIFETIMES)[number]['value']>('never');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const roles = administers(workspace) ? ROLES : ROLES.filter(({ value }) => value !== 'admin');
  const creation = useMutation({
    mutationFn: () =>
      store.keys.create({
        label: label.trim(),
        permissions: PERMISSIONS[role],
        buckets: role === 'admin' ? [] : [...chosen],
        ...(lifetime === 'never' ? {} : { expires_at: inDays(Number(lifetime)) }),
      }),
    onSuccess: async (created) => {
      await queryClient.invalidateQueries({ queryKey: keysQuery(svc, workspace).queryKey });
      onCreated(created);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creation.mutate();
      }}
    >
      <FieldStack>
        <TextField
          ref={labelRef}
          label="Label"
          value={label}
          required
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setLabel(event.target.value)}
        />
        <Select label="Permissions" options={roles} value={role} onChange={setRole} />
        {role !== 'admin' && (
          <fieldset className={styles['buckets']}>
            <legend className={styles['legend']}>Buckets (all if none is selected)</legend>
            {buckets.map(({ name }) => (
              <Checkbox
                key={name}
                label={name}
                checked={chosen.includes(name)}
                onChange={(on) => setChosen(on ? [...chosen, name] : chosen.filter((each) => each !== name))}
              />
            ))}
          </fieldset>
        )}
        <Select label="Expiration" options={LIFETIMES} value={lifetime} onChange={setLifetime} />
      </FieldStack>
      <FormError error={creation.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={creation.isPending}>
          Create key
        </Button>
      </DialogActions>
    </form>
  );
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}
