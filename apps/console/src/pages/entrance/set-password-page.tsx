import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation, useRouter } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { Button } from '../../ui/button.tsx';
import { FieldStack } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { formText } from '../../ui/form-text.ts';
import { PasswordField } from '../../ui/password-field.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { Entrance } from './entrance.tsx';
import styles from './entrance.module.css';

/** A link of the operator: sets the password, once. */
export function SetPasswordPage() {
  const token = useLocation({ select: (location) => location.hash });
  const use = useLink(token);
  if (token === '') {
    return (
      <Entrance title="Incomplete link" description="The link ends with # and a long secret.">
        <p>Copy the whole link, or ask for a new one.</p>
      </Entrance>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    use.mutate(formText(event.currentTarget, 'password'));
  };
  return (
    <Entrance title="Set your password" description="This signs you out everywhere. The link works once.">
      <form onSubmit={submit}>
        <FieldStack>
          <PasswordField
            label="New password"
            name="password"
            autoComplete="new-password"
            required
            minLength={8}
            autoFocus
            hint="At least 8 characters."
          />
        </FieldStack>
        <FormError error={use.error} />
        <Button type="submit" variant="primary" className={styles['submit']} pending={use.isPending}>
          Set password
        </Button>
      </form>
    </Entrance>
  );
}

function useLink(token: string) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const router = useRouter();
  const { done } = useToasts();
  return useMutation({
    mutationFn: (newPassword: string) => svc.accounts.usePasswordLink({ token, newPassword }),
    onSuccess: async () => {
      queryClient.clear();
      done('Password set');
      await router.navigate({ to: paths.signIn, replace: true });
    },
  });
}
