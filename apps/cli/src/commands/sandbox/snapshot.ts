import type { Snapshot } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable, renderBytes } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

/** `svc sandbox snapshots …` */
export function registerSandboxSnapshot(parent: Command): void {
  const snapshot = parent
    .command('snapshots')
    .alias('snapshot')
    .description('the files of a sandbox at one moment, to make others of; without more words they are listed');
  registerCreate(snapshot);
  registerList(snapshot);
  registerRemove(snapshot);
}

function registerCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('keep the files of a sandbox as they are now')
    .argument('<name or id>', 'of the sandbox')
    .option('--name <name>', 'of the snapshot')
    .action((name: string, flags: ConnectionFlags & { name?: string }) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const sandbox = await find(name);
        const made = await sandbox.snapshot({ signal, ...(flags.name !== undefined && { name: flags.name }) });
        output.answer(made, [
          `${made.id} holds ${renderBytes(made.size_bytes)} of ${printable(sandbox.name)}`,
          `svc sandbox create --snapshot ${made.id} makes a sandbox of it`,
        ]);
      }),
    );
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls', { isDefault: true }))
    .description('list the snapshots of the workspace, newest first')
    .option('--of <name or id>', 'only those of this sandbox')
    .action((flags: ConnectionFlags & { of?: string }) =>
      withSandboxes(flags, async ({ sandboxes, find, output, signal }) => {
        const query = flags.of === undefined ? {} : { sandboxId: (await find(flags.of)).id };
        const snapshots: Snapshot[] = [];
        for await (const each of sandboxes.snapshots.list(query, { signal })) snapshots.push(each);
        const rows = snapshots.map(
          ({ id, name, image, size_bytes: size, sandbox_id: sandbox, created_at: created }) => [
            id,
            name,
            image,
            renderBytes(size),
            sandbox,
            created,
          ],
        );
        output.answerTable(snapshots, ['ID', 'NAME', 'IMAGE', 'SIZE', 'OF', 'CREATED'], rows);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('delete snapshots; sandboxes that were made of them stay')
    .argument('<id...>')
    .action((ids: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        for (const id of ids) {
          await sandboxes.snapshots.delete(id, { signal });
          output.note(`Deleted snapshot ${printable(id)}`);
        }
        if (output.json) output.answer({ deleted: ids }, []);
      }),
    );
}
