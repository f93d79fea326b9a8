import { Menu as MenuIcon } from 'lucide-react';
import { useWorkspace } from '../session/use-session.ts';
import { IconButton } from '../ui/button.tsx';
import { LazyPopup } from '../ui/lazy-parts.tsx';
import { Mark } from '../ui/mark.tsx';
import styles from './top-bar.module.css';

const loadDrawer = async () => (await import('./navigation-drawer.tsx')).NavigationDrawer;

/** A bar for narrow screens, with a button that opens the sidebar as a drawer. */
export function TopBar() {
  const workspace = useWorkspace();
  return (
    <header className={styles['bar']}>
      <LazyPopup
        load={loadDrawer}
        trigger={
          <IconButton label="Open navigation">
            <MenuIcon size={18} />
          </IconButton>
        }
      />
      <span className={styles['name']}>{workspace.name}</span>
      <span className={styles['mark']}>
        <Mark size={18} />
      </span>
    </header>
  );
}
