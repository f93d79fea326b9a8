import type { Command } from 'commander';
import { addConnectionOptions } from '../../client/session.ts';
import { copyFiles, type CopyFlags } from '../../sandbox-files/copy-files.ts';
import { withSandboxes } from './with-sandboxes.ts';

export function registerSandboxCopy(parent: Command): void {
  addConnectionOptions(parent.command('cp'))
    .description('Copy files and folders to or from a sandbox')
    .argument('<source>', 'File, folder, NAME:/PATH in a sandbox, or - for standard input')
    .argument('<target>', 'File, folder, NAME:/PATH in a sandbox, or - for standard output')
    .option('-r, --recursive', 'Copy a folder and everything in it except links and devices')
    .option('-q, --quiet', 'Print errors only')
    .addHelpText('after', '\nIf the target is a folder or ends in /, the source keeps its name.')
    .action((source: string, target: string, flags: CopyFlags) =>
      withSandboxes(flags, (session) =>
        copyFiles(session, { noun: 'sandbox', find: session.find }, source, target, flags),
      ),
    );
}
