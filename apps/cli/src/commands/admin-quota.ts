import { listQuotas, setQuota, unsetQuota, type QuotaTarget } from '@svc/platform';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import { Output } from '../client/output.ts';
import { readConfiguration } from '../configuration.ts';

interface QuotaFlags {
  data?: string;
  config?: string;
  workspace?: string;
  owner?: string;
  json?: boolean;
}

/** `svc admin quota …`: sets limits; a running platform applies them within a second. */
export function registerAdminQuota(admin: Command): void {
  const quota = admin.command('quota').description('Manage quota limits of workspaces and owners');
  addOptions(quota.command('ls'))
    .description('List the limits of a workspace or an owner, or all limits that are set')
    .option('--json', 'Print JSON')
    .action(async (flags: QuotaFlags) => {
      const rows = await listQuotas(readConfiguration(flags).value, parseTarget(flags));
      const output = new Output({ json: flags.json === true, stdout: process.stdout, stderr: process.stderr });
      output.answerTable(
        rows,
        ['SCOPE', 'OF', 'QUOTA', 'LIMIT', 'SET'],
        rows.map((row) => [row.scope, row.subject, row.quota, row.text, row.isSet ? 'yes' : 'default']),
      );
    });
  addOptions(quota.command('set'))
    .description('Set a limit: a number, a size such as 10GiB, or unlimited')
    .argument('<quota>', 'Quota name, such as sandboxes')
    .argument('<limit>')
    .action(async (name: string, limit: string, flags: QuotaFlags) => {
      const target = requiredTarget(flags);
      const text = await setQuota(readConfiguration(flags).value, target, name, limit);
      process.stdout.write(`The limit of ${name} for ${target.scope} ${target.subject} is ${text}\n`);
    });
  addOptions(quota.command('unset'))
    .description('Reset a limit to its default')
    .argument('<quota>', 'Quota name, such as sandboxes')
    .action(async (name: string, flags: QuotaFlags) => {
      const target = requiredTarget(flags);
      await unsetQuota(readConfiguration(flags).value, target, name);
      process.stdout.write(`The limit of ${name} for ${target.scope} ${target.subject} is reset to its default\n`);
    });
}

function addOptions(command: Command): Command {
  return command
    .option('--workspace <uuid>', 'Workspace of the limit')
    .option('--owner <email>', 'Owner of the limit, which covers all of their workspaces')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)');
}

function parseTarget({ workspace, owner }: QuotaFlags): QuotaTarget | null {
  if (workspace !== undefined && owner !== undefined) throw usageFailure('--workspace and --owner cannot be combined');
  if (workspace !== undefined) return { scope: 'workspace', subject: workspace };
  return owner === undefined ? null : { scope: 'owner', subject: owner };
}

function requiredTarget(flags: QuotaFlags): QuotaTarget {
  const target = parseTarget(flags);
  if (target === null) throw usageFailure('--workspace UUID or --owner EMAIL is required');
  return target;
}
