import { RateLimitedError, UnauthorizedError } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useRef, type FormEvent } from 'react';
import { meQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { safeNext } from '../../session/safe-next.ts';
import { Button } from '../../ui/button.tsx';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { Entrance } from './entrance.tsx';
import styles from './entrance.module.css';
import { formText } from '../../ui/form-text.ts';

const route = getRouteApi(paths.signIn);

export function SignInPage() {
  const { next, ended } = route.useSearch();
  const password = useRef<HTMLInputElement>(null);
  const signIn = useSignIn(next, () => {
    if (password.current === null) return;
    password.current.select();
    password.current.focus();
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    signIn.mutate({ email: formText(form, 'email'), password: formText(form, 'password') });
  };
  return (
    <Entrance title="Sign in to svc">
      {ended === true && !signIn.isError && (
        <p role="status" className={styles['notice']}>
          Your session has ended. Sign in to continue where you left off.
        </p>
      )}
      <form onSubmit={submit}>
        <FieldStack>
          <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
          <PasswordField ref={password} label="Password" name="password" autoComplete="current-password" required />
        </FieldStack>
        <FormError error={signIn.error} />
        <Button type="submit" variant="primary" className={styles['submit']} pending={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </Entrance>
  );
}

function useSignIn(next: string | undefined, onRefused: () => void) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (credentials: { email: string; password: string }) => svc.accounts.signIn(credentials),
    onSuccess: async () => {
      queryClient.clear();
      await queryClient.fetchQuery(meQuery(svc));
      router.history.push(safeNext(next));
    },
    onError: (error) => {
      if (error instanceof UnauthorizedError || error instanceof RateLimitedError) onRefused();
    },
  });
}
