import type { CreatedApiToken } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { tokensQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useConfirmation } from '../../session/use-confirmation.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { formText } from '../../ui/form-text.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
type TokenLifetime = '7' | '30' | '90' | '365' | 'never';
const TOKEN_LIFETIMES: readonly SelectOption<TokenLifetime>[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'never', label: 'No expiration', description: 'Valid until revoked' },
];

export interface CreateTokenDialogProps {
  open: boolean;
  onClose: () => void;
  onCreated: (token: CreatedApiToken) => void;
}

export function CreateTokenDialog({ open, onClose, onCreated }: CreateTokenDialogProps) {
  const name = useRef<HTMLInputElement>(null);
  return (
    <Dialog open={open} onClose={onClose} title="New API token" initialFocus={name}>
      <CreateTokenForm nameRef={name} onClose={onClose} onCreated={onCreated} />
    </Dialog>
  );
}

interface CreateTokenFormProps extends Omit<CreateTokenDialogProps, 'open'> {
  nameRef: React.RefObject<HTMLInputElement | null>;
}

function CreateTokenForm({ nameRef, onClose, onCreated }: CreateTokenFormProps) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { confirmed, confirmation } = useConfirmation();
  const [lifetime, setLifetime] = useState<TokenLifetime>('90');
  const creation = useMutation({
    mutationFn: (name: string) => {
      const expiresAt = expiryOf(lifetime, Date.now());
      return confirmed(() => svc.accounts.createToken(expiresAt === undefined ? { name } : { name, expiresAt }));
    },
    onSuccess: (token) => {
      onCreated(token);
      return queryClient.invalidateQueries(tokensQuery(svc));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    creation.mutate(formText(event.currentTarget, 'name').trim());
  };
  return (
    <>
      <form onSubmit={submit}>
        <FieldStack>
          <TextField
            ref={nameRef}
            label="Name"
            name="name"
            required
            maxLength={100}
            autoComplete="off"
            placeholder="ci-pipeline"
            hint="Describe where you will use this token."
          />
          <Select label="Expiration" options={TOKEN_LIFETIMES} value={lifetime} onChange={setLifetime} />
        </FieldStack>
        <FormError error={creation.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={creation.isPending}>
            Create token
          </Button>
        </DialogActions>
      </form>
      {confirmation}
    </>
  );
}

/** ISO 8601, or undefined for a token that never expires. */
function expiryOf(lifetime: TokenLifetime, nowMs: number): string | undefined {
  return lifetime === 'never' ? undefined : new Date(nowMs + Number(lifetime) * DAY_MS).toISOString();
}
