import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { meQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useConfirmation } from '../../session/use-confirmation.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { FieldStack } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { formText } from '../../ui/form-text.ts';

export function PasswordForm({ email }: { email: string }) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const { done } = useToasts();
  const { confirmed, confirmation } = useConfirmation();
  const [mismatch, setMismatch] = useState(false);
  const change = useMutation({
    mutationFn: (passwords: { currentPassword: string; newPassword: string }) =>
      confirmed(() => svc.accounts.changePassword(passwords)),
    onSuccess: async () => {
      form.current?.reset();
      done('Password changed');
      await queryClient.invalidateQueries(meQuery(svc)); // the session and its CSRF token may be new
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = event.currentTarget;
    const text = (name: string): string => formText(fields, name);
    const same = text('new') === text('again');
    setMismatch(!same);
    if (same) change.mutate({ currentPassword: text('current'), newPassword: text('new') });
  };
  return (
    <>
      <form ref={form} onSubmit={submit}>
        {/* Password managers look for the name that the password belongs to. */}
        <input type="hidden" name="email" value={email} autoComplete="username" />
        <FieldStack>
          <PasswordField label="Current password" name="current" autoComplete="current-password" required />
          <PasswordField label="New password" name="new" autoComplete="new-password" required />
          <PasswordField
            label="Confirm new password"
            name="again"
            autoComplete="new-password"
            required
            error={mismatch ? 'Passwords do not match.' : undefined}
          />
        </FieldStack>
        <FormError error={change.error} />
        <DialogActions>
          <Button type="submit" variant="primary" pending={change.isPending}>
            Change password
          </Button>
        </DialogActions>
      </form>
      {confirmation}
    </>
  );
}
