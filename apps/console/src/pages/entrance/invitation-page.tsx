import { ConflictError, type NewAccount } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useLocation, useRouter } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { Entrance } from './entrance.tsx';
import styles from './entrance.module.css';
import { formText } from '../../ui/form-text.ts';

const route = getRouteApi(paths.invitation);

/** An invitation's link: makes an account, or adds the signed-in person to the team. */
export function InvitationPage() {
  const me = route.useLoaderData();
  const token = useLocation({ select: (location) => location.hash });
  if (token === '') return <IncompleteLink />;
  return me === null ? <AcceptAsNew token={token} /> : <AcceptAsSelf token={token} email={me.user.email} />;
}

function IncompleteLink() {
  return (
    <Entrance title="Incomplete link" description="An invitation link ends with # and a long secret.">
      <p>Copy the whole link from your invitation, or ask for a new one.</p>
    </Entrance>
  );
}

function AcceptAsSelf({ token, email }: { token: string; email: string }) {
  const accept = useAccept(token);
  return (
    <Entrance title="Join the team" description={`You are signed in as ${email}.`}>
      <p>Accepting adds this account to the team that invited you.</p>
      <FormError error={accept.error} />
      <Button
        variant="primary"
        className={styles['submit']}
        pending={accept.isPending}
        onClick={() => accept.mutate(undefined)}
      >
        Accept invitation
      </Button>
    </Entrance>
  );
}

function AcceptAsNew({ token }: { token: string }) {
  const accept = useAccept(token);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string): string => formText(form, name);
    accept.mutate({ email: text('email').trim(), name: text('name').trim(), password: text('password') });
  };
  return (
    <Entrance title="Accept your invitation" description="Create an account to join the team that invited you.">
      <form onSubmit={submit}>
        <FieldStack>
          <TextField label="Name" name="name" autoComplete="name" required maxLength={100} autoFocus />
          <TextField
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            required
            hint="The address you were invited with."
          />
          <PasswordField
            label="Password"
            name="password"
            autoComplete="new-password"
            required
            minLength={8}
            hint="At least 8 characters."
          />
        </FieldStack>
        <FormError error={accept.error} />
        <Button type="submit" variant="primary" className={styles['submit']} pending={accept.isPending}>
          Create account and join
        </Button>
      </form>
      <Link
        to={paths.signIn}
        search={{ next: `${paths.invitation}#${token}` }}
        className={classNames(
          buttonClass({ variant: accept.error instanceof ConflictError ? 'secondary' : 'ghost' }),
          styles['other'],
        )}
      >
        Already have an account? Sign in
      </Link>
    </Entrance>
  );
}

function useAccept(token: string) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: async (account: NewAccount | undefined) => {
      const accepted = await svc.accounts.acceptInvitation(token, account);
      if (account !== undefined) await svc.accounts.signIn({ email: account.email, password: account.password });
      return accepted;
    },
    onSuccess: async ({ team_uuid: team }) => {
      queryClient.clear();
      await router.navigate({ to: paths.teamMembers, params: { team }, replace: true });
    },
  });
}
