import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketRestore(parent: Command): void {
  addConnectionOptions(parent.command('restore'))
    .description('Restore a deleted bucket and its objects')
    .argument('<name>')
    .action((name: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const bucket = await (await connect()).store.buckets.restore(name, { signal });
        output.answer(bucket, [`Restored bucket ${bucket.name} with ${bucket.object_count} objects`]);
      }),
    );
}
