import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketDeleted(parent: Command): void {
  addConnectionOptions(parent.command('deleted'))
    .description('List deleted buckets that can still be restored')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const buckets = await (await connect()).store.buckets.deleted({ signal });
        const rows = buckets.map((bucket) => [bucket.name, bucket.deleted_at ?? '', bucket.purge_at ?? '']);
        output.answerTable(buckets, ['NAME', 'DELETED', 'PURGE'], rows);
      }),
    );
}
