import { Dialog } from '@base-ui/react/dialog';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { PopupProps } from '../ui/lazy-parts.tsx';
import { Sidebar } from './sidebar.tsx';
import styles from './top-bar.module.css';

/** The sidebar in a drawer, for narrow screens. Navigation closes it. */
export function NavigationDrawer({ trigger, defaultOpen }: PopupProps) {
  const [open, setOpen] = useState(defaultOpen);
  const href = useRouterState({ select: (state) => state.location.href });
  const shown = useRef(href);
  useEffect(() => {
    if (shown.current !== href) setOpen(false);
    shown.current = href;
  }, [href]);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger render={trigger} />
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={styles['drawer']}>
          <Dialog.Title className="visually-hidden">Navigation</Dialog.Title>
          <Sidebar />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
