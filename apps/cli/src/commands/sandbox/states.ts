import type { Sandbox, SandboxInfo } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { describeStatus } from './list.ts';
import { withSandboxes } from './with-sandboxes.ts';

type Change = (sandbox: Sandbox, signal: AbortSignal) => Promise<SandboxInfo>;

/** `svc sandbox start`, `stop`, `pause` and `resume`; each succeeds if the state is already reached. */
export function registerSandboxStates(parent: Command): void {
  register(parent, 'start', 'Start stopped or failed sandboxes; their files are kept', start);
  register(parent, 'stop', 'Stop sandboxes; their files are kept', (sandbox, signal) => sandbox.stop({ signal }));
  register(parent, 'pause', 'Pause sandboxes; any access resumes them', (sandbox, signal) => sandbox.pause({ signal }));
  register(parent, 'resume', 'Resume paused sandboxes', (sandbox, signal) => sandbox.resume({ signal }));
}

async function start(sandbox: Sandbox, signal: AbortSignal): Promise<SandboxInfo> {
  const answered = await sandbox.start({ signal });
  const info = answered.status === 'creating' ? await sandbox.waitFor('running', { signal }) : answered;
  // It may have failed before the response; report that reason.
  if (info.status === 'error') throw new CommandFailure(info.error?.message ?? `${info.name} did not start`);
  return info;
}

function register(parent: Command, verb: string, description: string, change: Change): void {
  addConnectionOptions(parent.command(verb))
    .description(description)
    .argument('<name or id...>')
    .action((names: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const infos: SandboxInfo[] = [];
        for (const name of names) {
          const info = await change(await find(name), signal);
          infos.push(info);
          output.note(`${printable(info.name)} is ${describeStatus(info)}`);
        }
        if (output.json) output.answer(infos, []);
      }),
    );
}
