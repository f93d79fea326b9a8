import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketLocation(parent: Command): void {
  addConnectionOptions(parent.command('location'))
    .description('Show the location of a bucket')
    .argument('<bucket>')
    .action((bucket: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const found = await (await connect()).store.buckets.location(bucket, { signal });
        const hint = found.location_hint === null ? '' : `, location hint ${found.location_hint}`;
        output.answer(found, [`region ${found.region}, engine ${found.provider}${hint}`]);
      }),
    );
}
