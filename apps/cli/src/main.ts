#!/usr/bin/env node
import { Command } from 'commander';
import { registerAdminCommand } from './commands/admin.ts';
import { registerAgentCommand } from './commands/agent.ts';
import { registerConfigCommand } from './commands/config.ts';
import { registerOpenApiCommand } from './commands/openapi.ts';
import { registerTestCommand } from './commands/test.ts';
import { registerUpCommand } from './commands/up.ts';
import { describeFailure } from './failure.ts';
import { VERSION } from '@svc/platform/version';

const program = new Command('svc')
  .description('Clusters, object store and sandboxes behind one command')
  .version(VERSION)
  .showHelpAfterError('(run with --help for the options)');

registerUpCommand(program);
registerConfigCommand(program);
registerAdminCommand(program);
registerAgentCommand(program);
registerOpenApiCommand(program);
registerTestCommand(program);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  // The one place where a command's failure becomes a line and an exit code.
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
}
