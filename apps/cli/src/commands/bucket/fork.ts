import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface ForkFlags extends ConnectionFlags {
  wait: boolean;
}

export function registerBucketFork(parent: Command): void {
  addConnectionOptions(parent.command('fork'))
    .description('Fork a bucket: create one with its current objects, which share the stored bytes')
    .argument('<source>')
    .argument('[name]', 'Name of the fork (default: <source>-fork-<random>)')
    .option('--no-wait', 'Return before the fork is complete')
    .action((source: string, name: string | undefined, flags: ForkFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { buckets } = (await connect()).store;
        const fork = await buckets.fork(source, { ...(name !== undefined && { name }), wait: flags.wait }, { signal });
        const what = fork.state === 'ready' ? 'Forked' : 'Forking';
        output.answer(fork, [
          `${what} bucket ${source} to ${fork.name} (${fork.object_count} ${fork.object_count === 1 ? 'object' : 'objects'})`,
        ]);
      }),
    );
}
