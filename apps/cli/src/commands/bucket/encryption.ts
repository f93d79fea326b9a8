import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketEncryption(parent: Command): void {
  addConnectionOptions(parent.command('encryption'))
    .description('show how new objects are encrypted, or change it: none or sse-s3')
    .argument('<bucket>')
    .argument('[mode]', 'none or sse-s3')
    .action((bucket: string, mode: string | undefined, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        if (mode !== undefined && mode !== 'none' && mode !== 'sse-s3') {
          throw usageFailure(`${JSON.stringify(mode)} is no encryption mode`, 'none or sse-s3');
        }
        const { buckets } = (await connect()).store;
        const now =
          mode === undefined
            ? await buckets.encryption(bucket, { signal })
            : await buckets.setEncryption(bucket, mode, { signal });
        output.answer({ bucket, mode: now }, [now]);
      }),
    );
}
