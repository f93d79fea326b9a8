import type { Snapshot } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable, renderBytes } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

/** `svc sandbox snapshots …` */
export function registerSandboxSnapshot(parent: Command): void {
  const snapshot = parent.command('snapshots').alias('snapshot').description('Manage snapshots of sandbox files');
  registerCreate(snapshot);
  registerList(snapshot);
  registerRemove(snapshot);
}

function registerCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a snapshot of the files of a sandbox')
    .argument('<name or id>', 'Name or ID of the sandbox')
    .option('--name <name>', 'Name of the snapshot')
    .action((name: string, flags: ConnectionFlags & { name?: string }) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const sandbox = await find(name);
        const made = await sandbox.snapshot({ signal, ...(flags.name !== undefined && { name: flags.name }) });
        output.answer(made, [
          `Created snapshot ${made.id} of ${printable(sandbox.name)} (${renderBytes(made.size_bytes)})`,
          `Run svc sandbox create --snapshot ${made.id}${placeOf(made)} to create a sandbox from it`,
        ]);
      }),
    );
}

/** Only connected clusters, and the driver kubernetes, read what was taken in a cluster. */
function placeOf({ cluster_id: cluster }: Snapshot): string {
  return cluster === null ? '' : ` --cluster ${printable(cluster)}`;
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls', { isDefault: true }))
    .description('List snapshots, newest first')
    .option('--of <name or id>', 'Only list snapshots of this sandbox')
    .action((flags: ConnectionFlags & { of?: string }) =>
      withSandboxes(flags, async ({ sandboxes, find, output, signal }) => {
        const query = flags.of === undefined ? {} : { sandboxId: (await find(flags.of)).id };
        const snapshots: Snapshot[] = [];
        for await (const each of sandboxes.snapshots.list(query, { signal })) snapshots.push(each);
        const rows = snapshots.map(
          ({ id, name, image, size_bytes: size, sandbox_id: sandbox, created_at: created, archived_at: archived }) => [
            id,
            name,
            image,
            renderBytes(size),
            sandbox,
            created,
            archived === null ? '' : 'yes',
          ],
        );
        output.answerTable(snapshots, ['ID', 'NAME', 'IMAGE', 'SIZE', 'OF', 'CREATED', 'ARCHIVED'], rows);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete snapshots; sandboxes created from them are kept')
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
