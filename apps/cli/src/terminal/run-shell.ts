import type { Sandbox, Terminal, TerminalEnd } from '@svc/sdk';
import { CommandFailure, EXIT } from '../client/command-failure.ts';
import { EscapeKeys, type EscapeAction } from './escape-keys.ts';
import type { OwnTerminal } from './own-terminal.ts';
import { withoutQueries } from './terminal-queries.ts';

export interface ShellOptions {
  sandbox: Sandbox;
  /** Null: a new session, which ends with this command unless detached. */
  session: string | null;
  readOnly: boolean;
  takeover: boolean;
  escape: string | null;
  /** Prints a final line for people. */
  note: (line: string) => void;
  signal: AbortSignal;
}

const HELP = '~.  end    ~d  leave the session as it is    ~~  a ~    ~?  this';
const LOST: Readonly<Record<number, string>> = {
  4001: 'another client took over the session',
  4002: 'this terminal was too slow',
  4003: 'your access to this terminal was revoked',
  4004: 'the sandbox was stopped',
  4005: 'the sandbox was deleted',
  4006: 'the session has ended',
};

type Ending = { kind: 'shell'; end: TerminalEnd } | { kind: EscapeAction | 'hung-up' | 'interrupted' };

/** Runs a shell of the sandbox on the user's terminal until either ends. */
export async function runShell(own: OwnTerminal, options: ShellOptions): Promise<void> {
  const { sandbox, readOnly, takeover } = options;
  const remote = await sandbox.terminal({
    ...own.size,
    session: options.session ?? 'new',
    readOnly,
    takeover,
    signal: undefined,
    onNotice: ({ message }) => own.note(`[${message}]`),
  });
  const session = remote.sessionId ?? 'new';
  let ending: Ending;
  try {
    ending = await join(own, remote, options);
  } finally {
    own.restore();
    remote.close();
  }
  if (ending.kind !== 'shell') own.newLine();
  // End an unnamed session unless the user detached to return later.
  const left = ending.kind === 'detach' || (ending.kind !== 'shell' && options.session !== null);
  if (ending.kind !== 'shell' && !left) await sandbox.endTerminal(session).catch(() => undefined);
  conclude(ending, sandbox.name, session, left, options);
}

function join(own: OwnTerminal, remote: Terminal, { escape, readOnly, signal }: ShellOptions): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const keys = new EscapeKeys(escape);
    signal.addEventListener('abort', () => resolve({ kind: 'interrupted' }), { once: true });
    own.takeOver({
      keys(typed) {
        const { bytes, action } = keys.type(typed);
        // Rejects only if the connection is gone for good or input was lost, and the user sees either.
        if (bytes.length > 0 && !readOnly) remote.write(bytes).catch(() => undefined);
        if (action === 'help') own.note(HELP);
        else if (action !== null) resolve({ kind: action });
      },
      resized: ({ cols, rows }) => remote.resize(cols, rows),
      hungUp: () => resolve({ kind: 'hung-up' }),
    });
    remote.onState((state) => {
      if (state === 'reconnecting') own.note('[connection lost, reconnecting; ~. to give up]');
      if (state === 'connected') remote.resize(own.size.cols, own.size.rows);
    });
    remote.onLag((bytes) => own.note(`[${bytes} bytes omitted]`));
    remote.onData(({ bytes, replayed }) => own.show(replayed ? withoutQueries(bytes) : bytes));
    remote.ended.then((end) => resolve({ kind: 'shell', end }), reject);
  });
}

function conclude(ending: Ending, name: string, session: string, left: boolean, { note }: ShellOptions): void {
  const back = `svc sandbox shell ${name} --session ${session}`;
  if (ending.kind === 'shell') {
    const { exit, code, reason } = ending.end;
    if (exit !== null) {
      if (exit.exitCode !== 0) throw new CommandFailure('', { exitCode: exit.exitCode });
      return;
    }
    const why = LOST[code] ?? (reason === '' ? `the connection was closed with ${code}` : reason);
    throw new CommandFailure(why, code < 4000 ? { hint: `run ${back} to rejoin` } : {});
  }
  if (left) note(`left session ${session}; run ${back} to rejoin`);
  if (ending.kind === 'interrupted' || ending.kind === 'hung-up') {
    throw new CommandFailure('', { exitCode: EXIT.interrupted });
  }
}
