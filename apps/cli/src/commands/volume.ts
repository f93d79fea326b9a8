import type { Volume, VolumeSnapshot } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { printable, renderBytes } from '../client/output.ts';
import { addConnectionOptions } from '../client/session.ts';
import { registerVolumeFileCommands } from './volume-files.ts';
import { withSandboxes } from './sandbox/with-sandboxes.ts';

/** `svc volume …` */
export function registerVolumeCommand(program: Command): void {
  const volume = program.command('volume').description('Manage volumes, whose files outlive sandboxes');
  registerCreate(volume);
  registerList(volume);
  registerResize(volume);
  registerRemove(volume);
  registerVolumeFileCommands(volume);
  const snapshot = volume.command('snapshot').alias('snapshots').description('Manage snapshots of volumes');
  registerSnapshotCreate(snapshot);
  registerSnapshotList(snapshot);
  registerSnapshotRemove(snapshot);
}

function registerCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a volume')
    .argument('<name>')
    .option('--size <MiB>', 'Size in MiB (default: that of the snapshot, or of the platform)')
    .option('--snapshot <id>', 'Copy a volume snapshot')
    .action((name: string, flags: ConnectionFlags & { size?: string; snapshot?: string }) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const size = flags.size === undefined ? {} : { size_mb: readSize(flags.size) };
        const source = flags.snapshot === undefined ? {} : { snapshot_id: flags.snapshot };
        const made = await sandboxes.volumes.create({ name, ...size, ...source }, { signal });
        output.answer(made, [
          `Created volume ${printable(made.name)} of ${made.size_mb} MiB`,
          `Run svc sandbox create IMAGE --volume ${printable(made.name)}:/data to mount it`,
        ]);
      }),
    );
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List volumes and the sandboxes that mount them')
    .action((flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const volumes: Volume[] = [];
        for await (const each of sandboxes.volumes.list({}, { signal })) volumes.push(each);
        const rows = volumes.map(({ name, size_mb: size, mounted_by: mounters, created_at: created }) => [
          name,
          `${size} MiB`,
          mounters.map((each) => `${each.sandbox_name}${each.read_only ? ' (ro)' : ''}`).join(', '),
          created,
        ]);
        output.answerTable(volumes, ['NAME', 'SIZE', 'MOUNTED BY', 'CREATED'], rows);
      }),
    );
}

function registerResize(parent: Command): void {
  addConnectionOptions(parent.command('resize'))
    .description('Make a volume larger')
    .argument('<name>')
    .argument('<MiB>', 'New size in MiB')
    .action((name: string, size: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const resized = await sandboxes.volumes.resize(name, readSize(size), { signal });
        output.answer(resized, [`Volume ${printable(resized.name)} has ${resized.size_mb} MiB`]);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete volumes and their files; their snapshots are kept')
    .argument('<name...>')
    .action((names: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        for (const name of names) {
          await sandboxes.volumes.delete(name, { signal });
          output.note(`Deleted volume ${printable(name)}`);
        }
        if (output.json) output.answer({ deleted: names }, []);
      }),
    );
}

function registerSnapshotCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a snapshot of a volume')
    .argument('<volume>')
    .option('--name <name>', 'Name of the snapshot')
    .action((volume: string, flags: ConnectionFlags & { name?: string }) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const made = await sandboxes.volumes.snapshot(volume, { name: flags.name, signal });
        output.answer(made, [
          `Created snapshot ${made.id} of ${printable(volume)} (${renderBytes(made.size_bytes)})`,
          `Run svc volume create NAME --snapshot ${made.id} to create a volume from it`,
        ]);
      }),
    );
}

function registerSnapshotList(parent: Command): void {
  addConnectionOptions(parent.command('ls', { isDefault: true }))
    .description('List snapshots of volumes, newest first')
    .option('--of <volume>', 'Only list snapshots of this volume')
    .action((flags: ConnectionFlags & { of?: string }) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const { volumes } = sandboxes;
        const volumeId = flags.of === undefined ? undefined : (await volumes.get(flags.of, { signal })).id;
        const snapshots: VolumeSnapshot[] = [];
        for await (const each of volumes.listSnapshots({ volumeId }, { signal })) snapshots.push(each);
        const rows = snapshots.map(({ id, name, size_bytes: size, created_at: created }) => [
          id,
          name,
          renderBytes(size),
          created,
        ]);
        output.answerTable(snapshots, ['ID', 'NAME', 'SIZE', 'CREATED'], rows);
      }),
    );
}

function registerSnapshotRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete snapshots; volumes created from them are kept')
    .argument('<id...>')
    .action((ids: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        for (const id of ids) {
          await sandboxes.volumes.deleteSnapshot(id, { signal });
          output.note(`Deleted snapshot ${printable(id)}`);
        }
        if (output.json) output.answer({ deleted: ids }, []);
      }),
    );
}

function readSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size <= 0) {
    throw usageFailure(`${JSON.stringify(text)} is not a size in MiB`, 'use a whole number, such as 1024');
  }
  return size;
}
