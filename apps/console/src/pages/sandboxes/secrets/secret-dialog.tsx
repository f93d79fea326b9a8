import type { Secret } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, type FormEvent, type RefObject } from 'react';
import { secretsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';
import { PasswordField } from '../../../ui/password-field.tsx';
import { useToasts } from '../../../ui/toast.tsx';

/** A secret whose value is replaced, or a new one. */
export type EditedSecret = Pick<Secret, 'name'> | 'new';

interface SecretDialogProps {
  secret: EditedSecret | null;
  onClose: () => void;
}

/** Creates a secret, or replaces the value of one. */
export function SecretDialog({ secret, onClose }: SecretDialogProps) {
  const first = useRef<HTMLInputElement>(null);
  const title = secret === null || secret === 'new' ? 'New secret' : `Replace ${secret.name}`;
  return (
    <Dialog open={secret !== null} onClose={onClose} title={title} initialFocus={first}>
      {secret !== null && <SecretForm firstRef={first} secret={secret} onClose={onClose} />}
    </Dialog>
  );
}

interface SecretFormProps {
  firstRef: RefObject<HTMLInputElement | null>;
  secret: EditedSecret;
  onClose: () => void;
}

function SecretForm({ firstRef, secret, onClose }: SecretFormProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const isNew = secret === 'new';
  const change = useMutation({
    mutationFn: ({ name, value }: { name: string; value: string }) =>
      isNew ? api.secrets.create(name, value) : api.secrets.replace(secret.name, value),
    onSuccess: ({ name }) => {
      onClose();
      done(`${name} ${isNew ? 'created' : 'replaced'}`);
      return queryClient.invalidateQueries(secretsQuery(api, workspace));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    change.mutate({ name: formText(form, 'name').trim(), value: formText(form, 'value') });
  };
  return (
    <form onSubmit={submit}>
      <FieldStack>
        {isNew && (
          <TextField
            ref={firstRef}
            label="Name"
            name="name"
            required
            maxLength={128}
            autoComplete="off"
            spellCheck={false}
            placeholder="OPENAI_API_KEY"
          />
        )}
        <PasswordField
          {...(isNew ? {} : { ref: firstRef })}
          label={isNew ? 'Value' : 'New value'}
          name="value"
          noun="value"
          required
          maxLength={8192}
          autoComplete="off"
          hint={isNew ? 'Stored encrypted. No one can read it back.' : 'Takes effect within two seconds.'}
        />
      </FieldStack>
      <FormError error={change.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={change.isPending}>
          {isNew ? 'Create secret' : 'Replace value'}
        </Button>
      </DialogActions>
    </form>
  );
}
