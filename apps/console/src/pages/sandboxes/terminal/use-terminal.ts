import type { SandboxesClient, Terminal, TerminalEnd } from '@svc/sdk';
import { useState } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import type { TerminalScreen } from '../../../terminal/terminal-screen.ts';
import { inOrder, useTerminalScreen, type PlacedScreen } from '../../../terminal/use-terminal-screen.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';

export interface TerminalWish {
  sandboxId: string;
  /** Null: a new shell. */
  session: string | null;
  readOnly: boolean;
  /** Disconnects other clients of the session. */
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

export interface ShownTerminal extends PlacedScreen {
  state: TerminalState;
}

/** A terminal while the component is mounted. For another terminal, change the component’s key. */
export function useTerminal({ wish, onSession, onFind, onLeave }: UseTerminalOptions): ShownTerminal {
  const api = useSandboxes();
  const [state, setState] = useState<TerminalState>({ kind: 'connecting' });
  const placed = useTerminalScreen({
    readOnly: wish.readOnly,
    onFind,
    onLeave,
    run: async (screen, signal) => {
      const update = (next: TerminalState): void => {
        if (!signal.aborted) setState(next);
      };
      const terminal = await join(api, screen, wish, signal);
      terminal.onState((each) => each !== 'closed' && update({ kind: each }));
      update({ kind: 'connected' });
      if (terminal.sessionId !== null && terminal.sessionId !== wish.session && !signal.aborted) {
        onSession(terminal.sessionId);
      }
      update({ kind: 'ended', end: await terminal.ended });
    },
    onFailure: (error) => setState({ kind: 'failed', error }),
  });
  return { ...placed, state };
}

/** Bytes per write: a paste of any size is sent in chunks, each when there is room. */
const INPUT_BYTES = 64 * 1024;

async function join(
  api: SandboxesClient,
  screen: TerminalScreen,
  { sandboxId, session, readOnly, takeover }: TerminalWish,
  signal: AbortSignal,
): Promise<Terminal> {
  const options = { ...screen.size, session: session ?? 'new', readOnly, takeover, signal };
  const terminal = await api.of(sandboxId).terminal(options);
  screen.attach({
    input: inOrder((bytes) => typeAll(terminal, bytes)),
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
  });
  terminal.onData(({ bytes, replayed }) => screen.write(bytes, replayed));
  terminal.onLag((bytes) => screen.note(`${formatBytes(bytes)} of earlier output dropped`));
  // The window may have been resized since the request.
  terminal.resize(screen.size.cols, screen.size.rows);
  return terminal;
}

async function typeAll(terminal: Terminal, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; start += INPUT_BYTES) {
    await terminal.write(bytes.subarray(start, start + INPUT_BYTES));
  }
}
