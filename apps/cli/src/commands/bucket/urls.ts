import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketUrls(parent: Command): void {
  addConnectionOptions(parent.command('urls'))
    .description('Show the URLs of a bucket')
    .argument('<bucket>')
    .action((bucket: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const urls = await (await connect()).store.buckets.urls(bucket, { signal });
        const rows = Object.entries(urls).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(' ') : String(value),
        ]);
        output.answerTable(urls, ['NAME', 'VALUE'], rows);
      }),
    );
}
