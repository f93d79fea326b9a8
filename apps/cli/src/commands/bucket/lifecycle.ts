import type { LifecycleChange } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readJsonArgument } from '../../client/json-argument.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketLifecycle(parent: Command): void {
  const lifecycle = parent.command('lifecycle').description('Manage lifecycle rules');
  addConnectionOptions(lifecycle.command('get'))
    .description('Show the rules as JSON')
    .argument('<bucket>')
    .action((bucket: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const found = await (await connect()).store.buckets.lifecycle(bucket, { signal });
        output.answer(found, [JSON.stringify(found, null, 2)]);
      }),
    );
  addConnectionOptions(lifecycle.command('set'))
    .description('Replace the rules')
    .argument('<bucket>')
    .argument('<rules>', 'JSON, @FILE, or @-; also accepts the format of the AWS CLI')
    .action((bucket: string, rules: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const body = (await readJsonArgument(rules)) as LifecycleChange; // validated by the platform's schema
        const set = await (await connect()).store.buckets.setLifecycle(bucket, body, { signal });
        output.answer(set, [`Bucket ${bucket} has ${set.rules.length} lifecycle rules`]);
      }),
    );
  addConnectionOptions(lifecycle.command('rm'))
    .description('Delete all rules')
    .argument('<bucket>')
    .action((bucket: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        await (await connect()).store.buckets.removeLifecycle(bucket, { signal });
        output.answer({ bucket, rules: [] }, [`Bucket ${bucket} has no lifecycle rules`]);
      }),
    );
}
