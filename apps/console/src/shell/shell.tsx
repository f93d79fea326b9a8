import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { lazyDialog } from '../ui/lazy-parts.tsx';
import type { Creating } from './create-dialogs.tsx';
import { UploadTray } from '../uploads/upload-tray.tsx';
import styles from './shell.module.css';
import { ShellContext } from './shell-context.ts';
import { Sidebar } from './sidebar.tsx';
import { TopBar } from './top-bar.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const CommandPalette = lazyDialog(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }));
const ShortcutsDialog = lazyDialog(async () => ({ default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog }));
const CreateDialogs = lazyDialog(async () => ({ default: (await import('./create-dialogs.tsx')).CreateDialogs }));

type Overlay = 'palette' | 'shortcuts' | null;

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [creating, setCreating] = useState<Creating>(null);
  useFocusOnNavigation(main);
  useShortcuts({ openPalette: () => setOverlay('palette'), openShortcuts: () => setOverlay('shortcuts') });
  return (
    <ShellContext
      value={{
        openPalette: () => setOverlay('palette'),
        openShortcuts: () => setOverlay('shortcuts'),
        create: setCreating,
      }}
    >
      <a href="#content" className={styles['skip']} onClick={(event) => focusInstead(event, main.current)}>
        Skip to content
      </a>
      <div className={styles['shell']}>
        <aside className={styles['aside']}>
          <Sidebar />
        </aside>
        <TopBar />
        <main ref={main} id="content" tabIndex={-1} className={styles['main']}>
          <Outlet />
        </main>
      </div>
      <UploadTray />
      <CommandPalette open={overlay === 'palette'} onClose={() => setOverlay(null)} />
      <ShortcutsDialog open={overlay === 'shortcuts'} onClose={() => setOverlay(null)} />
      <CreateDialogs open={creating !== null} creating={creating} onClose={() => setCreating(null)} />
    </ShellContext>
  );
}

/** Moves the focus to the top of a page opened by a link, as after a full load. */
function useFocusOnNavigation(main: React.RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname ?? '' });
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== '' && before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path, main]);
}

/** The router owns the URL's hash, so only move the focus. */
function focusInstead(event: React.MouseEvent, target: HTMLElement | null): void {
  event.preventDefault();
  target?.focus();
}
