import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerKeyRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Revoke an access key; takes effect within a second')
    .argument('<access key>')
    .action((accessKeyId: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        await (await connect()).store.keys.revoke(accessKeyId, { signal });
        output.answer({ accessKeyId, revoked: true }, [`Revoked ${accessKeyId}`]);
      }),
    );
}
