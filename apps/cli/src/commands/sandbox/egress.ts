import { Option, type Command } from 'commander';
import { printable } from '../../client/output.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, withSandboxes } from './with-sandboxes.ts';

interface EgressFlags extends ConnectionFlags {
  allow?: string[];
  deny?: string[];
  all?: boolean;
  none?: boolean;
}

export function registerSandboxEgress(parent: Command): void {
  addConnectionOptions(parent.command('egress'))
    .description('Show or replace the allowed egress targets of a sandbox; its open connections end')
    .argument('<name or id>')
    .option('--allow <target>', 'Only these hosts and IPv4 ranges (repeatable, or separated by commas)', collect)
    .addOption(
      new Option(
        '--deny <range>',
        'Allow all public addresses except these IPv4 ranges (repeatable, or separated by commas)',
      )
        .argParser(collect)
        .conflicts('allow'),
    )
    .addOption(new Option('--all', 'Allow all public addresses').conflicts(['allow', 'deny', 'none']))
    .addOption(new Option('--none', 'Allow nothing').conflicts(['allow', 'deny']))
    .action((name: string, flags: EgressFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const sandbox = await find(name);
        const wanted = targetsOf(flags);
        if (flags.deny !== undefined) await sandbox.denyEgress(splitTargets(flags.deny), { signal });
        else if (wanted !== undefined) await sandbox.setEgress(wanted, { signal });
        const { egress_allow: allowed, egress_deny: denied, network } = await sandbox.get({ signal });
        output.answer({ network, egress_allow: allowed, egress_deny: denied }, describe(network, allowed, denied));
      }),
    );
}

/** Null for everything; undefined to change nothing. */
function targetsOf({ allow, all, none }: EgressFlags): string[] | null | undefined {
  if (all === true) return null;
  if (none === true) return [];
  return allow === undefined ? undefined : splitTargets(allow);
}

export function splitTargets(given: readonly string[]): string[] {
  return given.flatMap((targets) => targets.split(','));
}

function describe(network: string, allowed: readonly string[] | null, denied: readonly string[]): string[] {
  if (network === 'none') return ['No network'];
  if (allowed === null) return ['All public addresses'];
  if (denied.length > 0) return ['All public addresses except:', ...denied.map(printable)];
  return allowed.length === 0 ? ['Nothing'] : allowed.map(printable);
}
