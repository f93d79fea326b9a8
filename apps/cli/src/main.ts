#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { VERSION } from '@svc/platform/version';
import { CommandFailure, EXIT } from './client/command-failure.ts';
import { registerCommands } from './commands/all-commands.ts';
import { describeFailure } from './failure.ts';

const program = new Command('svc')
  .description('Clusters, object store, and sandboxes behind one command')
  .version(VERSION, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show help')
  .helpCommand('help [command]', 'Show help for a command')
  .showHelpAfterError('(run with --help for usage)')
  .exitOverride();

// The reader of our output may stop early, like `head`; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : EXIT.failed),
);

await registerCommands(program, process.argv[2]);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Converts a command's failure to a message and an exit code.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage; // Commander has already printed the error or the help
  } else {
    const line = describeFailure(error);
    if (line !== '') process.stderr.write(`${line}\n`);
    process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failed;
  }
}
