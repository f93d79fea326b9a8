import type { Command } from 'commander';
import { registerDomainAdd } from './domain/add.ts';
import { registerDomainList } from './domain/list.ts';
import { registerDomainRemove } from './domain/remove.ts';
import { registerDomainStatus } from './domain/status.ts';

/** `svc domain …` */
export function registerDomainCommand(program: Command): void {
  const domain = program.command('domain').description('Manage custom domains of buckets');
  registerDomainList(domain);
  registerDomainAdd(domain);
  registerDomainRemove(domain);
  registerDomainStatus(domain);
}
