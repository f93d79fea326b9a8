import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerDomainList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List custom domains')
    .argument('[bucket]', 'Only list domains of this bucket')
    .action((bucket: string | undefined, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const domains = await (await connect()).store.domains.list(bucket, { signal });
        const rows = domains.map((domain) => [domain.hostname, domain.bucket, domain.status, domain.cname_target]);
        output.answerTable(domains, ['HOSTNAME', 'BUCKET', 'STATUS', 'CNAME TARGET'], rows);
      }),
    );
}
