import { Link } from '@tanstack/react-router';
import { Keyboard, KeyRound, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { paths } from '../routes/paths.ts';
import { useTheme, type Theme } from '../session/theme.ts';
import { useSignOut } from '../session/use-session.ts';
import type { PopupProps } from '../ui/lazy-parts.tsx';
import { Menu, MenuChoices, MenuItem, MenuSeparator, type MenuChoice } from '../ui/menu.tsx';
import { useToasts } from '../ui/toast.tsx';
import { useShell } from './shell-context.ts';

const THEMES: readonly MenuChoice<Theme>[] = [
  { value: 'system', label: 'System', icon: <Monitor size={14} /> },
  { value: 'light', label: 'Light', icon: <Sun size={14} /> },
  { value: 'dark', label: 'Dark', icon: <Moon size={14} /> },
];

export function AccountMenuPopup({ trigger, defaultOpen }: PopupProps) {
  const { theme, setTheme } = useTheme();
  const { openShortcuts } = useShell();
  const signOut = useSignOut();
  const { failed } = useToasts();
  return (
    <Menu side="top" width="trigger" trigger={trigger} defaultOpen={defaultOpen}>
      <MenuItem icon={<UserRound size={15} />} render={<Link to={paths.account} />}>
        Account
      </MenuItem>
      <MenuItem icon={<KeyRound size={15} />} render={<Link to={paths.tokens} />}>
        API tokens
      </MenuItem>
      <MenuItem icon={<Keyboard size={15} />} onClick={openShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuSeparator />
      <MenuChoices label="Theme" value={theme} choices={THEMES} onChange={setTheme} />
      <MenuSeparator />
      <MenuItem
        icon={<LogOut size={15} />}
        onClick={() =>
          signOut.mutate({ everywhere: false }, { onError: (error) => failed('Could not sign out', error) })
        }
      >
        Sign out
      </MenuItem>
    </Menu>
  );
}
