import type { SandboxesClient, Terminal, TerminalEnd } from '@svc/sdk';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { useShownTheme } from '../../../session/theme.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { loadTerminalFont, TerminalScreen } from '../../../terminal/terminal-screen.ts';

export interface TerminalWish {
  sandboxId: string;
  /** Null: a new shell. */
  session: string | null;
  readOnly: boolean;
  /** Other clients of the session are sent away. */
  takeover: boolean;
}

export type TerminalState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  | { kind: 'reconnecting' }
  | { kind: 'ended'; end: TerminalEnd }
  | { kind: 'failed'; error: unknown };

export interface UseTerminalOptions {
  wish: TerminalWish;
  onSession: (session: string) => void;
  onFind: () => void;
  onLeave: () => void;
}

export interface ShownTerminal {
  /** The element that it is drawn into. */
  place: RefObject<HTMLDivElement | null>;
  screen: TerminalScreen | null;
  state: TerminalState;
}

/** One terminal for as long as its component is there; whoever wants another one gives the component another key. */
export function useTerminal(options: UseTerminalOptions): ShownTerminal {
  const api = useSandboxes();
  const theme = useShownTheme();
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ ...options, theme });
  const [screen, setScreen] = useState<TerminalScreen | null>(null);
  const [state, setState] = useState<TerminalState>({ kind: 'connecting' });
  useEffect(() => {
    latest.current = { ...options, theme };
  });
  useEffect(() => screen?.setTheme(theme), [screen, theme]);
  useEffect(() => {
    const { wish } = latest.current;
    const gone = new AbortController();
    let shown: TerminalScreen | null = null;
    const tell = (next: TerminalState): void => {
      if (!gone.signal.aborted) setState(next);
    };
    const show = async (): Promise<void> => {
      await loadTerminalFont();
      if (gone.signal.aborted || place.current === null) return;
      shown = new TerminalScreen(place.current, {
        theme: latest.current.theme,
        readOnly: wish.readOnly,
        onFind: () => latest.current.onFind(),
        onLeave: () => latest.current.onLeave(),
      });
      setScreen(shown);
      shown.focus();
      const terminal = await join(api, shown, wish, gone.signal);
      terminal.onState((each) => each !== 'closed' && tell({ kind: each }));
      tell({ kind: 'connected' });
      if (terminal.sessionId !== null && terminal.sessionId !== wish.session && !gone.signal.aborted) {
        latest.current.onSession(terminal.sessionId);
      }
      tell({ kind: 'ended', end: await terminal.ended });
    };
    show().catch((error: unknown) => tell({ kind: 'failed', error }));
    return () => {
      gone.abort();
      shown?.dispose();
    };
  }, [api]);
  return { place, screen, state };
}

/** What is sent at a time: a paste of any size goes in portions, each when there is room for it. */
const INPUT_BYTES = 64 * 1024;

async function join(
  api: SandboxesClient,
  screen: TerminalScreen,
  { sandboxId, session, readOnly, takeover }: TerminalWish,
  signal: AbortSignal,
): Promise<Terminal> {
  const options = { ...screen.size, session: session ?? 'new', readOnly, takeover, signal };
  const terminal = await api.of(sandboxId).terminal(options);
  let typing = Promise.resolve();
  screen.attach({
    // What is typed while the connection is away is lost, as it is with any terminal.
    input: (bytes) => {
      typing = typing.then(() => typeAll(terminal, bytes)).catch(() => undefined);
    },
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
  });
  terminal.onData(({ bytes, replayed }) => screen.write(bytes, replayed));
  terminal.onLag((bytes) => screen.note(`${formatBytes(bytes)} of output are no longer kept`));
  // The window may have another size than when it was asked for.
  terminal.resize(screen.size.cols, screen.size.rows);
  return terminal;
}

async function typeAll(terminal: Terminal, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; start += INPUT_BYTES) {
    await terminal.write(bytes.subarray(start, start + INPUT_BYTES));
  }
}
