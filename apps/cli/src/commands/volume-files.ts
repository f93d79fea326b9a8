import type { FileEntry } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { printable, renderBytes } from '../client/output.ts';
import { addConnectionOptions } from '../client/session.ts';
import { copyFiles, type CopyFlags } from '../sandbox-files/copy-files.ts';
import { parseRemotePath } from '../sandbox-files/remote-path.ts';
import { withSandboxes } from './sandbox/with-sandboxes.ts';

/** `svc volume cp`, `ls-files` and `rm-files`: the files of volumes, without a sandbox. */
export function registerVolumeFileCommands(volume: Command): void {
  registerCopy(volume);
  registerListFiles(volume);
  registerRemoveFiles(volume);
}

function registerCopy(parent: Command): void {
  addConnectionOptions(parent.command('cp'))
    .description('Copy files and folders to or from a volume')
    .argument('<source>', 'File, folder, NAME:/PATH in a volume, or - for standard input')
    .argument('<target>', 'File, folder, NAME:/PATH in a volume, or - for standard output')
    .option('-r, --recursive', 'Copy a folder and everything in it except links and devices')
    .option('-q, --quiet', 'Print errors only')
    .addHelpText('after', '\nIf the target is a folder or ends in /, the source keeps its name.')
    .action((source: string, target: string, flags: CopyFlags) =>
      withSandboxes(flags, (session) => {
        const { volumes } = session.sandboxes;
        const find = async (name: string) => ({ name, files: volumes.files(name) });
        return copyFiles(session, { noun: 'volume', find }, source, target, flags);
      }),
    );
}

function registerListFiles(parent: Command): void {
  addConnectionOptions(parent.command('ls-files'))
    .description('List a folder of a volume')
    .argument('<location>', 'NAME, or NAME:/PATH')
    .action((location: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const { name, path } = parseRemotePath(location) ?? { name: location, path: '/' };
        const entries: FileEntry[] = [];
        for await (const entry of sandboxes.volumes.files(name).list(path, { signal })) entries.push(entry);
        const rows = entries.map((entry) => [
          entry.mode,
          `${entry.uid}:${entry.gid}`,
          entry.is_dir ? '' : renderBytes(entry.size),
          entry.mod_time,
          `${entry.name}${entry.is_dir ? '/' : ''}`,
        ]);
        output.answerTable(entries, ['MODE', 'OWNER', 'SIZE', 'CHANGED', 'NAME'], rows);
      }),
    );
}

function registerRemoveFiles(parent: Command): void {
  addConnectionOptions(parent.command('rm-files'))
    .description('Delete files in volumes')
    .argument('<location...>', 'NAME:/PATH')
    .option('-r, --recursive', 'Also delete folders and everything in them')
    .action((locations: string[], flags: ConnectionFlags & { recursive?: boolean }) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const recursive = flags.recursive === true;
        for (const [location, { name, path }] of locations.map((each) => [each, readLocation(each)] as const)) {
          await sandboxes.volumes.files(name).remove(path, { recursive, signal });
          output.note(`Deleted ${printable(location)}`);
        }
        if (output.json) output.answer({ deleted: locations }, []);
      }),
    );
}

function readLocation(location: string) {
  const read = parseRemotePath(location);
  if (read === null) throw usageFailure(`${location} is not in a volume`, 'use NAME:/PATH');
  return read;
}
