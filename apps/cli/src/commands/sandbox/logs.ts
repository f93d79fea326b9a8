import { once } from 'node:events';
import type { Sandbox, TerminalSession } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withoutQueries } from '../../terminal/terminal-queries.ts';
import { withSandboxes } from './with-sandboxes.ts';

interface LogFlags extends ConnectionFlags {
  session?: string;
  follow?: boolean;
}

export function registerSandboxLogs(parent: Command): void {
  addConnectionOptions(parent.command('logs'))
    .description('Show the output of terminal sessions, up to 1 MiB each')
    .argument('<name or id>')
    .option('--session <name>', 'Only show this session (default all)')
    .option('-f, --follow', 'Follow the output until the session ends or Ctrl-C')
    .addHelpText('after', '\nsvc sandbox events shows what happened to the sandbox itself.')
    .action((name: string, flags: LogFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const sandbox = await find(name);
        const sessions = await sandbox.terminals({ signal });
        const wanted = chooseSessions(sessions, flags, sandbox.name);
        for (const { session } of wanted) {
          if (wanted.length > 1) output.warn(`session ${printable(session)}:`);
          await showSession(sandbox, session, flags.follow === true, signal);
        }
      }),
    );
}

function chooseSessions(sessions: readonly TerminalSession[], flags: LogFlags, sandbox: string): TerminalSession[] {
  const chosen = sessions.filter(({ session }) => flags.session === undefined || session === flags.session);
  if (flags.session !== undefined && chosen.length === 0)
    throw noSession(`there is no session ${flags.session}`, sandbox);
  if (flags.follow === true && chosen.length > 1) {
    const names = chosen.map(({ session }) => session).join(', ');
    throw new CommandFailure('only one session can be followed', {
      hint: `select one with --session: ${printable(names)}`,
    });
  }
  if (chosen.length === 0) throw noSession('no session was opened, or all have ended', sandbox);
  return chosen;
}

function noSession(message: string, sandbox: string): CommandFailure {
  return new CommandFailure(message, { hint: `run svc sandbox events ${sandbox} --after 0 to see its history` });
}

/** Joins the session read-only, without affecting it. */
async function showSession(sandbox: Sandbox, session: string, follow: boolean, signal: AbortSignal): Promise<void> {
  const terminal = await sandbox.terminal({
    session,
    since: 0,
    replay: 'output',
    readOnly: true,
    reconnect: follow,
    signal,
  });
  const all = Promise.withResolvers<void>();
  let leftBytes = terminal.replayedBytes;
  if (leftBytes === 0) all.resolve();
  terminal.onData(async ({ bytes }) => {
    const wanted = follow ? bytes : bytes.subarray(0, Math.max(0, leftBytes));
    if (!process.stdout.write(process.stdout.isTTY ? withoutQueries(wanted) : wanted))
      await once(process.stdout, 'drain');
    leftBytes -= bytes.length;
    if (leftBytes <= 0) all.resolve();
  });
  try {
    await (follow ? terminal.ended : Promise.race([all.promise, terminal.ended]));
    signal.throwIfAborted();
  } finally {
    terminal.close();
  }
}
