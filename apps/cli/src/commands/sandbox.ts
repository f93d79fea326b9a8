import type { Command } from 'commander';
import { registerSandboxCopy } from './sandbox/copy.ts';
import { registerSandboxCreate } from './sandbox/create.ts';
import { registerSandboxEgress } from './sandbox/egress.ts';
import { registerSandboxEvents } from './sandbox/events.ts';
import { registerSandboxExec } from './sandbox/exec.ts';
import { registerSandboxFork } from './sandbox/fork.ts';
import { registerSandboxGet } from './sandbox/get.ts';
import { registerSandboxImages } from './sandbox/images.ts';
import { registerSandboxList } from './sandbox/list.ts';
import { registerSandboxLogs } from './sandbox/logs.ts';
import { registerSandboxPorts } from './sandbox/ports.ts';
import { registerSandboxRemove } from './sandbox/remove.ts';
import { registerSandboxRules } from './sandbox/rules.ts';
import { registerSandboxShell } from './sandbox/shell.ts';
import { registerSandboxSnapshot } from './sandbox/snapshot.ts';
import { registerSandboxStates } from './sandbox/states.ts';
import { registerSandboxUpdate } from './sandbox/update.ts';

/** `svc sandbox …` */
export function registerSandboxCommand(program: Command): void {
  // Arguments after the name in `exec` belong to the command, including `--version` and `--help`.
  program.enablePositionalOptions();
  const sandbox = program.command('sandbox').description('Manage sandboxes').enablePositionalOptions();
  registerSandboxCreate(sandbox);
  registerSandboxList(sandbox);
  registerSandboxGet(sandbox);
  registerSandboxExec(sandbox);
  registerSandboxShell(sandbox);
  registerSandboxCopy(sandbox);
  registerSandboxLogs(sandbox);
  registerSandboxStates(sandbox);
  registerSandboxUpdate(sandbox);
  registerSandboxRemove(sandbox);
  registerSandboxSnapshot(sandbox);
  registerSandboxFork(sandbox);
  registerSandboxEvents(sandbox);
  registerSandboxPorts(sandbox);
  registerSandboxEgress(sandbox);
  registerSandboxRules(sandbox);
  registerSandboxImages(sandbox);
}
