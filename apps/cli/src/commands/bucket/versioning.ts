import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketVersioning(parent: Command): void {
  addConnectionOptions(parent.command('versioning'))
    .description('Show or change versioning')
    .argument('<bucket>')
    .argument('[status]', 'enabled or suspended')
    .action((bucket: string, status: string | undefined, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        if (status !== undefined && status !== 'enabled' && status !== 'suspended') {
          throw usageFailure(`${JSON.stringify(status)} is not a versioning status`, 'use enabled or suspended');
        }
        const { buckets } = (await connect()).store;
        const now =
          status === undefined
            ? await buckets.versioning(bucket, { signal })
            : await buckets.setVersioning(bucket, status, { signal });
        output.answer({ bucket, status: now }, [now]);
      }),
    );
}
