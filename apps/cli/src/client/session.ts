import type { Command } from 'commander';
import { readClientEnvironment, type ClientEnvironment } from '../configuration-client.ts';
import { CommandFailure, EXIT } from './command-failure.ts';
import { connect, findTarget, type Connection, type ConnectionFlags, type Target } from './connection.ts';
import { Output } from './output.ts';

/** One run of a command: its environment and connection. */
export interface Session {
  environment: ClientEnvironment;
  output: Output;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  target(): Promise<Target>;
  connect(): Promise<Connection>;
}

export function addConnectionOptions(command: Command): Command {
  return command
    .option('--url <address>', 'Platform URL (default SVC_URL, then the profile)')
    .option('--profile <name>', 'Profile to use (default SVC_PROFILE, then "default")')
    .option('--workspace <uuid or name>', 'Workspace (default SVC_WORKSPACE, then your own)')
    .option('--team <uuid>', 'Team that gives you access to the workspace (default SVC_TEAM)')
    .option('--json', 'Print JSON');
}

/** Runs a command until it ends or Ctrl-C. A second Ctrl-C exits immediately. */
export async function withSession(flags: ConnectionFlags, run: (session: Session) => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const onSignal = (): void => {
    if (ending.signal.aborted) process.exit(EXIT.interrupted);
    ending.abort(new CommandFailure('interrupted', { exitCode: EXIT.interrupted }));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const environment = readClientEnvironment();
  const output = new Output({ json: flags.json === true, stdout: process.stdout, stderr: process.stderr });
  let found: Promise<Target> | undefined;
  let connection: Promise<Connection> | undefined;
  const target = (): Promise<Target> => (found ??= findTarget(flags, environment));
  try {
    await run({
      environment,
      output,
      signal: ending.signal,
      target,
      connect: () => (connection ??= target().then((known) => connect(known, ending.signal))),
    });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
