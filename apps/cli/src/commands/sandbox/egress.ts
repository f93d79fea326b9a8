import { Option, type Command } from 'commander';
import { printable } from '../../client/output.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, withSandboxes } from './with-sandboxes.ts';

interface EgressFlags extends ConnectionFlags {
  allow?: string[];
  all?: boolean;
  none?: boolean;
}

export function registerSandboxEgress(parent: Command): void {
  addConnectionOptions(parent.command('egress'))
    .description('Show or replace the allowed egress targets of a sandbox; its open connections end')
    .argument('<name or id>')
    .option('--allow <target>', 'Only these hosts and IPv4 ranges (repeatable, or separated by commas)', collect)
    .addOption(new Option('--all', 'Allow all public addresses').conflicts(['allow', 'none']))
    .addOption(new Option('--none', 'Allow nothing').conflicts('allow'))
    .action((name: string, flags: EgressFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const sandbox = await find(name);
        const wanted = targetsOf(flags);
        if (wanted !== undefined) await sandbox.setEgress(wanted, { signal });
        const { egress_allow: allowed, network } = await sandbox.get({ signal });
        output.answer({ network, egress_allow: allowed }, describe(network, allowed));
      }),
    );
}

/** Null for everything; undefined to change nothing. */
function targetsOf({ allow, all, none }: EgressFlags): string[] | null | undefined {
  if (all === true) return null;
  if (none === true) return [];
  return allow?.flatMap((targets) => targets.split(','));
}

function describe(network: string, allowed: readonly string[] | null): string[] {
  if (network === 'none') return ['No network'];
  if (allowed === null) return ['All public addresses'];
  return allowed.length === 0 ? ['Nothing'] : allowed.map(printable);
}
