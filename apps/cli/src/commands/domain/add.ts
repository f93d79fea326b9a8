import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerDomainAdd(parent: Command): void {
  addConnectionOptions(parent.command('add'))
    .description('Add a custom domain to a bucket and show the CNAME record to create')
    .argument('<bucket>')
    .argument('<hostname>')
    .action((bucket: string, hostname: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const domain = await (await connect()).store.domains.add(bucket, hostname, { signal });
        output.answer(domain, [
          `${domain.hostname} is ${domain.status}`,
          `Create this DNS record:  ${domain.hostname}.  CNAME  ${domain.cname_target}.`,
          domain.dns_hint,
          `Run svc domain status ${domain.hostname} --wait to wait until it is active`,
        ]);
      }),
    );
}
