import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { describeExpected } from '../../failure.ts';
import { withSandboxes, type SandboxSession } from './with-sandboxes.ts';

interface RemoveFlags extends ConnectionFlags {
  all?: boolean;
  volumes?: boolean;
  dropData?: boolean;
}

export function registerSandboxRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete sandboxes and their files')
    .argument('[name or id...]')
    .option('--all', 'Delete all sandboxes of the workspace')
    .option('--volumes', 'Also delete writable volumes that no other sandbox mounts')
    .option('--drop-data', 'Also delete the volumes and buckets that were created for a fork')
    .action((names: string[], flags: RemoveFlags) =>
      withSandboxes(flags, async (session) => {
        if ((names.length === 0) === (flags.all !== true)) throw usageFailure('specify sandboxes or --all');
        const deleted: string[] = [];
        let failed = 0;
        for (const name of flags.all === true ? await allIds(session) : names) {
          try {
            const sandbox = await session.find(name);
            await sandbox.delete({
              volumes: flags.volumes === true ? 'delete' : 'keep',
              dropData: flags.dropData === true,
              signal: session.signal,
            });
            deleted.push(sandbox.id);
            session.output.note(`Deleted ${printable(sandbox.name)}`);
          } catch (error) {
            session.signal.throwIfAborted();
            const message = describeExpected(error);
            if (message === null) throw error;
            session.output.warn(message);
            failed += 1;
          }
        }
        if (session.output.json) session.output.answer({ deleted, failed }, []);
        if (failed > 0) throw new CommandFailure('');
      }),
    );
}

async function allIds({ sandboxes, signal }: SandboxSession): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of sandboxes.list({ pageSize: 200 }, { signal })) ids.push(id);
  return ids;
}
