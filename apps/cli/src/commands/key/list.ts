import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerKeyList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List access keys, without their secrets')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const keys = await (await connect()).store.keys.list({ signal });
        output.answerTable(
          keys,
          ['ACCESS KEY', 'LABEL', 'STATUS', 'PERMISSIONS', 'BUCKETS', 'CREATED BY', 'EXPIRES', 'LAST USED'],
          keys.map((key) => [
            key.accessKeyId,
            key.label,
            key.status,
            key.permissions.join(','),
            key.buckets.join(','),
            key.created_by_name || key.created_by,
            key.expires_at ?? 'never',
            key.last_used_at ?? 'never',
          ]),
        );
      }),
    );
}
