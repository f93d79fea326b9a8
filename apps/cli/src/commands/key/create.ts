import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addKeyOptions, readKeyRequest, type KeyFlags } from '../../client/key-request.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerKeyCreate(parent: Command): void {
  addKeyOptions(addConnectionOptions(parent.command('create')))
    .description('Create an access key; its secret is shown only once')
    .action((flags: ConnectionFlags & KeyFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { keys } = (await connect()).store;
        const made = await keys.create(readKeyRequest(flags, Date.now(), 'svc command'), { signal });
        output.answer(made, [
          `Access key   ${made.accessKeyId}`,
          `Secret       ${made.secretAccessKey}`,
          `Endpoint     ${made.s3_endpoint}`,
          `Region       ${made.region}`,
          `Permissions  ${made.key.permissions.join(', ')} on ${made.key.buckets.join(', ')}`,
          'The secret is not shown again.',
        ]);
      }),
    );
}
