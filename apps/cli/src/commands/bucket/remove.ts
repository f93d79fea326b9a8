import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface RemoveFlags extends ConnectionFlags {
  force?: boolean;
}

export function registerBucketRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('delete a bucket; it can be restored for a while where soft delete is on')
    .argument('<name>')
    .option('--force', 'also when soft delete is off and the bucket is not empty: everything in it is lost')
    .action((name: string, flags: RemoveFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { buckets } = (await connect()).store;
        const deleted = await buckets.delete(name, { force: flags.force === true }, { signal });
        const until = deleted.purge_at ?? null;
        output.answer(deleted, [
          until === null
            ? `Deleted bucket ${name}`
            : `Deleted bucket ${name}; until ${until} svc bucket restore ${name} brings it back`,
        ]);
      }),
    );
}
