import { useEffect, useRef, useState, type RefObject } from 'react';
import { useShownTheme } from '../session/theme.ts';
import { loadTerminalFont, TerminalScreen } from './terminal-screen.ts';

export interface UseTerminalScreenOptions {
  /** Disables input. */
  readOnly: boolean;
  onFind: () => void;
  onLeave: () => void;
  /**
   * Starts when the screen is ready and focused, and runs as long as its content. Called once; `signal` aborts on
   * unmount, after which errors are ignored.
   */
  run: (screen: TerminalScreen, signal: AbortSignal) => Promise<void>;
  onFailure: (error: unknown) => void;
}

export interface PlacedScreen {
  /** The container element. */
  place: RefObject<HTMLDivElement | null>;
  /** Null until the font is loaded. */
  screen: TerminalScreen | null;
}

/** A screen while the component is mounted, in the page's colors. */
export function useTerminalScreen(options: UseTerminalScreenOptions): PlacedScreen {
  const theme = useShownTheme();
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ ...options, theme });
  const [screen, setScreen] = useState<TerminalScreen | null>(null);
  useEffect(() => {
    latest.current = { ...options, theme };
  });
  useEffect(() => screen?.setTheme(theme), [screen, theme]);
  useEffect(() => {
    const gone = new AbortController();
    let shown: TerminalScreen | null = null;
    const show = async (): Promise<void> => {
      await loadTerminalFont();
      if (gone.signal.aborted || place.current === null) return;
      shown = new TerminalScreen(place.current, {
        theme: latest.current.theme,
        readOnly: latest.current.readOnly,
        onFind: () => latest.current.onFind(),
        onLeave: () => latest.current.onLeave(),
      });
      setScreen(shown);
      shown.focus();
      await latest.current.run(shown, gone.signal);
    };
    show().catch((error: unknown) => {
      if (!gone.signal.aborted) latest.current.onFailure(error);
    });
    return () => {
      gone.abort();
      shown?.dispose();
    };
  }, []);
  return { place, screen };
}

/** Sends input in order; drops input that can no longer be sent, like any terminal. */
export function inOrder(send: (bytes: Uint8Array) => Promise<void>): (bytes: Uint8Array) => void {
  let typing = Promise.resolve();
  return (bytes) => {
    typing = typing.then(() => send(bytes)).catch(() => undefined);
  };
}
