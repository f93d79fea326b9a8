import { useEffect, useRef, useState, type RefObject } from 'react';
import { useShownTheme } from '../session/theme.ts';
import { loadTerminalFont, TerminalScreen } from './terminal-screen.ts';

export interface UseTerminalScreenOptions {
  /** Nothing can be typed. */
  readOnly: boolean;
  onFind: () => void;
  onLeave: () => void;
  /**
   * Begins when the screen stands, with the keys in it, and goes on as long as whatever is shown. Called once; `signal`
   * says that the component is gone. What it throws after that is ignored.
   */
  run: (screen: TerminalScreen, signal: AbortSignal) => Promise<void>;
  onFailure: (error: unknown) => void;
}

export interface PlacedScreen {
  /** The element that it is drawn into. */
  place: RefObject<HTMLDivElement | null>;
  /** Null until the font is there. */
  screen: TerminalScreen | null;
}

/** One screen for as long as its component is there, in the colours of the page. */
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

/** Sends what is typed in its order; what cannot be sent any more is lost, as with any terminal. */
export function inOrder(send: (bytes: Uint8Array) => Promise<void>): (bytes: Uint8Array) => void {
  let typing = Promise.resolve();
  return (bytes) => {
    typing = typing.then(() => send(bytes)).catch(() => undefined);
  };
}
