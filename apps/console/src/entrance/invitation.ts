import type { AccountsClient, NewAccount } from '@svc/sdk';
import { entrancePaths, paths } from '../routes/paths.ts';
import buttonStyles from '../ui/button.module.css';
import { classNames } from '../ui/class-names.ts';
import { element, form, frame } from './elements.ts';
import styles from './entrance.module.css';

/** Target of an invitation link: creates an account, or adds the signed-in user to the team. */
export function invitationPage(accounts: AccountsClient, email: string | null): HTMLElement {
  const token = window.location.hash.slice(1);
  if (token === '') return incompletePage();
  const accept = async (account?: NewAccount): Promise<void> => {
    const { team_uuid: team } = await accounts.acceptInvitation(token, account);
    if (account !== undefined) await accounts.signIn({ email: account.email, password: account.password });
    window.location.replace(paths.teamMembers.replace('$team', encodeURIComponent(team)));
  };
  return email === null ? newAccountPage(token, accept) : ownAccountPage(email, accept);
}

function incompletePage(): HTMLElement {
  return frame({
    title: 'Incomplete link',
    description: 'An invitation link ends with # and a long secret.',
    content: [element('p', {}, 'Copy the whole link from your invitation, or ask for a new one.')],
  });
}

function ownAccountPage(email: string, accept: () => Promise<void>): HTMLElement {
  return frame({
    title: 'Join the team',
    description: `You are signed in as ${email}.`,
    content: [
      element('p', {}, 'Accepting adds this account to the team that invited you.'),
      form({ fields: [], action: 'Accept invitation', onSubmit: () => accept() }),
    ],
  });
}

function newAccountPage(token: string, accept: (account: NewAccount) => Promise<void>): HTMLElement {
  const next = new URLSearchParams({ next: `${entrancePaths.invitation}#${token}` });
  const signIn = element(
    'a',
    {
      href: `${entrancePaths.signIn}?${next.toString()}`,
      class: classNames(buttonStyles['button'], buttonStyles['ghost'], styles['other']),
    },
    'Already have an account? Sign in',
  );
  return frame({
    title: 'Accept your invitation',
    description: 'Create an account to join the team that invited you.',
    content: [
      form({
        fields: [
          { label: 'Name', name: 'name', autocomplete: 'name', maxLength: 100 },
          {
            label: 'Email',
            name: 'email',
            type: 'email',
            autocomplete: 'username',
            hint: 'The address you were invited with.',
          },
          {
            label: 'Password',
            name: 'password',
            type: 'password',
            autocomplete: 'new-password',
            minLength: 8,
            hint: 'At least 8 characters.',
          },
        ],
        action: 'Create account and join',
        onSubmit: (text) =>
          accept({ email: text('email').trim(), name: text('name').trim(), password: text('password') }),
      }),
      signIn,
    ],
  });
}
