import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface RemoveFlags extends ConnectionFlags {
  force?: boolean;
}

export function registerBucketRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete a bucket; with soft delete on, it can be restored for a while')
    .argument('<name>')
    .option('--force', 'Delete a bucket that is not empty even when soft delete is off; its objects are lost')
    .action((name: string, flags: RemoveFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { buckets } = (await connect()).store;
        const deleted = await buckets.delete(name, { force: flags.force === true }, { signal });
        const until = deleted.purge_at ?? null;
        output.answer(deleted, [
          until === null
            ? `Deleted bucket ${name}`
            : `Deleted bucket ${name}; run svc bucket restore ${name} to restore it until ${until}`,
        ]);
      }),
    );
}
