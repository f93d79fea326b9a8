import { useState } from 'react';
import { useSession, useSignOut } from '../../session/use-session.ts';
import { useTheme, type Theme } from '../../session/theme.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ActionPanel, Definitions, Page, Panel, Section } from '../../ui/page.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { PasswordForm } from './password-form.tsx';

const THEMES: readonly SelectOption<Theme>[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function AccountPage() {
  const { me } = useSession();
  const { theme, setTheme } = useTheme();
  return (
    <Page title="Account" width="narrow">
      <Panel>
        <Definitions
          items={[
            ['Name', me.user.name],
            ['Email', me.user.email],
            ['User ID', <code key="id">{me.user.id}</code>],
            ...(me.user.operator ? [['Role', 'Operator of this installation'] as const] : []),
          ]}
        />
      </Panel>
      <Section title="Password" description="Changing your password signs you out on all other devices.">
        <Panel>
          <PasswordForm email={me.user.email} />
        </Panel>
      </Section>
      <Section title="Appearance" description="Saved in this browser.">
        <Panel>
          <Select label="Theme" options={THEMES} value={theme} onChange={setTheme} />
        </Panel>
      </Section>
      <SignOutEverywhere />
    </Page>
  );
}

function SignOutEverywhere() {
  const [asking, setAsking] = useState(false);
  const signOut = useSignOut();
  return (
    <>
      <ActionPanel
        title="Sessions"
        description="End all sessions of this account on every device. API tokens and SSH keys keep working."
        action={<Button onClick={() => setAsking(true)}>Sign out everywhere</Button>}
      />
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => signOut.mutate({ everywhere: true })}
        title="Sign out everywhere?"
        action="Sign out everywhere"
        pending={signOut.isPending || signOut.isSuccess}
        error={signOut.error}
      >
        This ends the current session too. You will need to sign in again.
      </ConfirmDialog>
    </>
  );
}
