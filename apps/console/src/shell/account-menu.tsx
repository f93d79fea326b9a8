import { Link } from '@tanstack/react-router';
import { Keyboard, KeyRound, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { paths } from '../routes/paths.ts';
import { useTheme, type Theme } from '../session/theme.ts';
import { useSession, useSignOut } from '../session/use-session.ts';
import { Menu, MenuChoices, MenuItem, MenuSeparator, type MenuChoice } from '../ui/menu.tsx';
import { Monogram } from '../ui/monogram.tsx';
import { useToasts } from '../ui/toast.tsx';
import { useShell } from './shell-context.ts';
import styles from './switcher.module.css';

const THEMES: readonly MenuChoice<Theme>[] = [
  { value: 'system', label: 'System', icon: <Monitor size={14} /> },
  { value: 'light', label: 'Light', icon: <Sun size={14} /> },
  { value: 'dark', label: 'Dark', icon: <Moon size={14} /> },
];

export function AccountMenu() {
  const { me } = useSession();
  const { theme, setTheme } = useTheme();
  const { openShortcuts } = useShell();
  const signOut = useSignOut();
  const { failed } = useToasts();
  const name = me.user.name === '' ? me.user.email : me.user.name;
  return (
    <Menu
      side="top"
      width="trigger"
      trigger={
        <button type="button" className={styles['switcher']}>
          <Monogram name={name} seed={me.user.id} size="large" shape="round" />
          <span className={styles['names']}>
            <span className={styles['name']}>
              <span className="visually-hidden">Account of </span>
              {name}
            </span>
            {name !== me.user.email && <span className={styles['team']}>{me.user.email}</span>}
          </span>
        </button>
      }
    >
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
