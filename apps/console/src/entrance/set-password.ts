import type { AccountsClient } from '@svc/sdk';
import { entrancePaths } from '../routes/paths.ts';
import { element, form, frame } from './elements.ts';

/** Target of an operator's link: sets the password once. */
export function setPasswordPage(accounts: AccountsClient): HTMLElement {
  const token = window.location.hash.slice(1);
  if (token === '') {
    return frame({
      title: 'Incomplete link',
      description: 'The link ends with # and a long secret.',
      content: [element('p', {}, 'Copy the whole link, or ask for a new one.')],
    });
  }
  return frame({
    title: 'Set your password',
    description: 'This signs you out everywhere. The link works once.',
    content: [
      form({
        fields: [
          {
            label: 'New password',
            name: 'password',
            type: 'password',
            autocomplete: 'new-password',
            minLength: 8,
            hint: 'At least 8 characters.',
          },
        ],
        action: 'Set password',
        onSubmit: async (text) => {
          await accounts.usePasswordLink({ token, newPassword: text('password') });
          window.location.replace(`${entrancePaths.signIn}?password-set`);
        },
      }),
    ],
  });
}
