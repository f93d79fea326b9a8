import type { ClusterShell, ClustersClient } from '@svc/sdk';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import { useShownTheme } from '../../../session/theme.ts';
import { loadTerminalFont, TerminalScreen } from '../../../terminal/terminal-screen.ts';

export interface ShellWish {
  clusterId: string;
  namespace: string;
  pod: string;
  container: string;
}

export type ShellState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  | { kind: 'ended'; exitCode: number }
  | { kind: 'failed'; error: unknown };

export interface UseShellOptions {
  wish: ShellWish;
  onFind: () => void;
  onLeave: () => void;
}

export interface ShownShell {
  /** The element that it is drawn into. */
  place: RefObject<HTMLDivElement | null>;
  screen: TerminalScreen | null;
  state: ShellState;
}

/** One shell for as long as its component is there; whoever wants another one gives the component another key. */
export function useShell(options: UseShellOptions): ShownShell {
  const api = useClusters();
  const theme = useShownTheme();
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ ...options, theme });
  const [screen, setScreen] = useState<TerminalScreen | null>(null);
  const [state, setState] = useState<ShellState>({ kind: 'connecting' });
  useEffect(() => {
    latest.current = { ...options, theme };
  });
  useEffect(() => screen?.setTheme(theme), [screen, theme]);
  useEffect(() => {
    const gone = new AbortController();
    let shown: TerminalScreen | null = null;
    const tell = (next: ShellState): void => {
      if (!gone.signal.aborted) setState(next);
    };
    const show = async (): Promise<void> => {
      await loadTerminalFont();
      if (gone.signal.aborted || place.current === null) return;
      shown = new TerminalScreen(place.current, {
        theme: latest.current.theme,
        readOnly: false,
        onFind: () => latest.current.onFind(),
        onLeave: () => latest.current.onLeave(),
      });
      setScreen(shown);
      shown.focus();
      const shell = await open(api, shown, latest.current.wish, gone.signal);
      tell({ kind: 'connected' });
      const { exitCode } = await shell.ended;
      tell({ kind: 'ended', exitCode });
    };
    show().catch((error: unknown) => tell({ kind: 'failed', error }));
    return () => {
      gone.abort();
      shown?.dispose();
    };
  }, [api]);
  return { place, screen, state };
}

async function open(
  api: ClustersClient,
  screen: TerminalScreen,
  { clusterId, ...request }: ShellWish,
  signal: AbortSignal,
): Promise<ClusterShell> {
  const shell = await api.of(clusterId).shell({ ...request, ...screen.size, tty: true }, { signal });
  let typing = Promise.resolve();
  screen.attach({
    input: (bytes) => {
      typing = typing.then(() => shell.write(bytes)).catch(() => undefined);
    },
    resize: ({ cols, rows }) => shell.resize(cols, rows),
  });
  shell.onData(({ bytes }) => screen.write(bytes, false));
  // The window may have another size than when it was asked for.
  shell.resize(screen.size.cols, screen.size.rows);
  return shell;
}
