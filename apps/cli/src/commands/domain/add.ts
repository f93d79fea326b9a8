import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerDomainAdd(parent: Command): void {
  addConnectionOptions(parent.command('add'))
    .description('put a hostname in front of a bucket; the answer says which CNAME to make')
    .argument('<bucket>')
    .argument('<hostname>')
    .action((bucket: string, hostname: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const domain = await (await connect()).store.domains.add(bucket, hostname, { signal });
        output.answer(domain, [
          `${domain.hostname} is ${domain.status}`,
          `Make this record:  ${domain.hostname}.  CNAME  ${domain.cname_target}.`,
          domain.dns_hint,
          `svc domain status ${domain.hostname} --wait tells when it works`,
        ]);
      }),
    );
}
