import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketEncryption(parent: Command): void {
  addConnectionOptions(parent.command('encryption'))
    .description('Show or change the default encryption of new objects')
    .argument('<bucket>')
    .argument('[mode]', 'none or sse-s3')
    .action((bucket: string, mode: string | undefined, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        if (mode !== undefined && mode !== 'none' && mode !== 'sse-s3') {
          throw usageFailure(`${JSON.stringify(mode)} is not an encryption mode`, 'use none or sse-s3');
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
