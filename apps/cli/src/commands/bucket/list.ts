import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { renderBytes } from '../../client/output.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List buckets')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const buckets = await (await connect()).store.buckets.list({ signal });
        output.answerTable(
          buckets,
          ['NAME', 'OBJECTS', 'SIZE', 'VERSIONING', 'PUBLIC', 'CREATED'],
          buckets.map((bucket) => [
            bucket.name,
            String(bucket.object_count),
            renderBytes(bucket.size_bytes),
            bucket.versioning,
            bucket.publicDefault ? 'yes' : 'no',
            bucket.created_at,
          ]),
        );
      }),
    );
}
