import { createContext, useContext } from 'react';
import type { Creating } from './create-dialogs.tsx';

export interface ShellActions {
  openPalette: () => void;
  openShortcuts: () => void;
  create: (what: Creating) => void;
}

export const ShellContext = createContext<ShellActions | null>(null);

export function useShell(): ShellActions {
  const actions = useContext(ShellContext);
  if (actions === null) throw new Error('useShell outside of the shell');
  return actions;
}
