import type { ClusterShell, ClustersClient } from '@svc/sdk';
import { useState } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import type { TerminalScreen } from '../../../terminal/terminal-screen.ts';
import { inOrder, useTerminalScreen, type PlacedScreen } from '../../../terminal/use-terminal-screen.ts';

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

export interface ShownShell extends PlacedScreen {
  state: ShellState;
}

/** A shell while the component is mounted. For another shell, change the component’s key. */
export function useShell({ wish, onFind, onLeave }: UseShellOptions): ShownShell {
  const api = useClusters();
  const [state, setState] = useState<ShellState>({ kind: 'connecting' });
  const placed = useTerminalScreen({
    readOnly: false,
    onFind,
    onLeave,
    run: async (screen, signal) => {
      const update = (next: ShellState): void => {
        if (!signal.aborted) setState(next);
      };
      const shell = await open(api, screen, wish, signal);
      update({ kind: 'connected' });
      const { exitCode } = await shell.ended;
      update({ kind: 'ended', exitCode });
    },
    onFailure: (error) => setState({ kind: 'failed', error }),
  });
  return { ...placed, state };
}

async function open(
  api: ClustersClient,
  screen: TerminalScreen,
  { clusterId, ...request }: ShellWish,
  signal: AbortSignal,
): Promise<ClusterShell> {
  const shell = await api.of(clusterId).shell({ ...request, ...screen.size, tty: true }, { signal });
  screen.attach({
    input: inOrder((bytes) => shell.write(bytes)),
    resize: ({ cols, rows }) => shell.resize(cols, rows),
  });
  shell.onData(({ bytes }) => screen.write(bytes, false));
  // The window may have been resized since the request.
  shell.resize(screen.size.cols, screen.size.rows);
  return shell;
}
