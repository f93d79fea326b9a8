import type { SandboxInfo } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

interface ForkFlags extends ConnectionFlags {
  name?: string;
  count?: string;
  mounts?: string;
}

export function registerSandboxFork(parent: Command): void {
  addConnectionOptions(parent.command('fork'))
    .description('Fork a sandbox: create sandboxes with a copy of its files, volumes and buckets')
    .argument('<name or id>')
    .option('--name <name>', 'Name of the new sandbox')
    .option('--count <number>', 'Number of forks (default 1)')
    .option('--mounts <fork|share>', 'Fork or share the buckets that are mounted for writing (default fork)')
    .action((name: string, flags: ForkFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const count = flags.count === undefined ? undefined : Number(flags.count);
        if (count !== undefined && !(Number.isInteger(count) && count > 0))
          throw usageFailure('--count must be a positive number');
        const { mounts } = flags;
        if (mounts !== undefined && mounts !== 'fork' && mounts !== 'share')
          throw usageFailure('--mounts must be fork or share');
        const source = await find(name);
        const forks = await source.fork({
          signal,
          ...(flags.name !== undefined && { name: flags.name }),
          ...(count !== undefined && { count }),
          ...(mounts !== undefined && { mounts }),
        });
        output.answer(
          forks,
          forks.flatMap((fork) => [
            `${printable(fork.name)} (${fork.id}) is ${fork.status}`,
            ...forkedBuckets(fork.info).map(([path, bucket]) => `  ${path} is the bucket ${bucket}`),
          ]),
        );
      }),
    );
}

function forkedBuckets({ mounts }: SandboxInfo): [path: string, bucket: string][] {
  return mounts.flatMap(({ path, bucket, forked_from: source }) => (source === undefined ? [] : [[path, bucket]]));
}
