import type { ClusterShell } from '@svc/sdk';
import { CommandFailure, EXIT } from '../client/command-failure.ts';
import { EscapeKeys } from './escape-keys.ts';
import type { OwnTerminal } from './own-terminal.ts';

export interface ClusterShellOptions {
  /** Prints a line for people. */
  note: (line: string) => void;
  signal: AbortSignal;
}

const HELP = '~.  end    ~~  a ~    ~?  this';
type Ending = { kind: 'shell'; exitCode: number } | { kind: 'left' | 'hung-up' | 'interrupted' };

/** Runs a process in a container on the user's terminal until either ends. The process ends with its connection. */
export async function runClusterShell(
  own: OwnTerminal,
  shell: ClusterShell,
  options: ClusterShellOptions,
): Promise<void> {
  let ending: Ending;
  try {
    ending = await join(own, shell, options.signal);
  } finally {
    own.restore();
    shell.close();
  }
  if (ending.kind === 'shell') {
    if (ending.exitCode !== 0) throw new CommandFailure('', { exitCode: ending.exitCode });
    return;
  }
  own.newLine();
  if (ending.kind !== 'left') throw new CommandFailure('', { exitCode: EXIT.interrupted });
  options.note('left the container; processes that ignore the hangup keep running there');
}

function join(own: OwnTerminal, shell: ClusterShell, signal: AbortSignal): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const keys = new EscapeKeys('~');
    signal.addEventListener('abort', () => resolve({ kind: 'interrupted' }), { once: true });
    own.takeOver({
      keys(typed) {
        const { bytes, action } = keys.type(typed);
        // Input after the end is lost, visibly to the user.
        if (bytes.length > 0) shell.write(bytes).catch(() => undefined);
        if (action === 'help') own.note(HELP);
        else if (action !== null) resolve({ kind: 'left' });
      },
      resized: ({ cols, rows }) => shell.resize(cols, rows),
      hungUp: () => resolve({ kind: 'hung-up' }),
    });
    shell.onData(({ bytes }) => own.show(bytes));
    shell.ended.then(({ exitCode }) => resolve({ kind: 'shell', exitCode }), reject);
  });
}
