import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useWorkspace } from '../session/use-session.ts';
import { CHORD_MS, GO_SHORTCUTS } from './shortcuts.ts';

export interface ShortcutActions {
  openPalette: () => void;
  openShortcuts: () => void;
}

/** Handles the console's shortcuts while no field has the focus and no dialog is open. */
export function useShortcuts(actions: ShortcutActions): void {
  const navigate = useNavigate();
  const workspace = useWorkspace();
  const latest = useRef({ actions, workspace });
  useEffect(() => {
    latest.current = { actions, workspace };
  });
  useEffect(() => {
    let goUntilMs = 0;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        latest.current.actions.openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.composedPath()[0] ?? null)) return;
      const going = event.timeStamp < goUntilMs;
      goUntilMs = !going && event.key === 'g' ? event.timeStamp + CHORD_MS : 0;
      if (event.key === '?') latest.current.actions.openShortcuts();
      const shortcut = going ? GO_SHORTCUTS.find(({ key }) => key === event.key) : undefined;
      if (shortcut !== undefined) {
        event.preventDefault();
        void navigate({ to: shortcut.to, params: { workspace: latest.current.workspace.uuid } });
      }
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [navigate]);
}

/** Checks the actual target: an editor in a shadow root looks like its host element from here. */
function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return (
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"], [role="listbox"]') !==
    null
  );
}
