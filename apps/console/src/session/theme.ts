import { createContext, createElement, useContext, useState, useSyncExternalStore, type ReactNode } from 'react';

export type Theme = 'system' | 'light' | 'dark';

/** Also read by `public/theme.js`, before the first paint. */
const STORAGE_KEY = 'svc.theme';

const ThemeContext = createContext<{ theme: Theme; setTheme: (theme: Theme) => void } | null>(null);

export function ThemeProvider({ children }: { children: ReactNode }) {
  const [theme, setState] = useState<Theme>(readTheme);
  const setTheme = (next: Theme): void => {
    applyTheme(next);
    setState(next);
  };
  return createElement(ThemeContext, { value: { theme, setTheme } }, children);
}

export function useTheme(): { theme: Theme; setTheme: (theme: Theme) => void } {
  const context = useContext(ThemeContext);
  if (context === null) throw new Error('useTheme outside of ThemeProvider');
  return context;
}

function readTheme(): Theme {
  const stored = document.documentElement.dataset['theme'];
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // Storage is refused in some private windows; the choice then lasts as long as the page.
  }
}

/** The effective theme: the user's choice, or the system's. */
export function useShownTheme(): 'light' | 'dark' {
  const { theme } = useTheme();
  const systemIsDark = useSyncExternalStore(watchSystem, () => systemQuery().matches);
  if (theme !== 'system') return theme;
  return systemIsDark ? 'dark' : 'light';
}

function systemQuery(): MediaQueryList {
  return window.matchMedia('(prefers-color-scheme: dark)');
}

function watchSystem(changed: () => void): () => void {
  const query = systemQuery();
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}
