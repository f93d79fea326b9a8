import { Dialog } from '@base-ui/react/dialog';
import { useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useWorkspace } from '../session/use-session.ts';
import { IconButton } from '../ui/button.tsx';
import { Mark } from '../ui/mark.tsx';
import { Sidebar } from './sidebar.tsx';
import styles from './top-bar.module.css';

/** On narrow screens: the side bar lies in a drawer behind one button. */
export function TopBar() {
  const [open, setOpen] = useState(false);
  const workspace = useWorkspace();
  const href = useRouterState({ select: (state) => state.location.href });
  useEffect(() => setOpen(false), [href]);
  return (
    <header className={styles['bar']}>
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger render={<IconButton label="Open navigation" />}>
          <MenuIcon size={18} />
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Backdrop className={styles['backdrop']} />
          <Dialog.Popup className={styles['drawer']}>
            <Dialog.Title className="visually-hidden">Navigation</Dialog.Title>
            <Sidebar />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
      <span className={styles['name']}>{workspace.name}</span>
      <span className={styles['mark']}>
        <Mark size={18} />
      </span>
    </header>
  );
}
