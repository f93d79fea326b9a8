import type { SandboxUpdate } from '@svc/sdk';
import { Option, type Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { splitTargets } from './egress.ts';
import { collect, readPairs, readSeconds, withSandboxes } from './with-sandboxes.ts';

interface UpdateFlags extends ConnectionFlags {
  label?: string[];
  removeLabel?: string[];
  lifetime?: string;
  keep?: boolean;
  deny?: string[];
  publicPorts?: boolean;
  privatePorts?: boolean;
}

export function registerSandboxUpdate(parent: Command): void {
  addConnectionOptions(parent.command('update'))
    .description('Change the labels, expiry, denied addresses or ports of a sandbox')
    .argument('<name or id>')
    .option('--label <KEY=VALUE>', 'Add or change a label; repeatable', collect)
    .option('--remove-label <KEY>', 'Remove a label; repeatable', collect)
    .addOption(new Option('--lifetime <time>', 'Expire this long from now, such as 12h').conflicts('keep'))
    .option('--keep', 'Never expire')
    .option('--deny <range>', 'Allow egress everywhere except to these IPv4 ranges; repeatable', collect)
    .addOption(
      new Option('--public-ports', 'Open every port to anyone who knows its address').conflicts('privatePorts'),
    )
    .option('--private-ports', 'Require a link for each port')
    .action((name: string, flags: UpdateFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const change = readChange(flags);
        const isPublic = flags.publicPorts === true ? true : flags.privatePorts === true ? false : undefined;
        if (change === null && isPublic === undefined && flags.deny === undefined) {
          throw usageFailure(
            'nothing to change',
            'use --label, --remove-label, --lifetime, --keep, --deny, --public-ports or --private-ports',
          );
        }
        const sandbox = await find(name);
        if (flags.deny !== undefined) await sandbox.denyEgress(splitTargets(flags.deny), { signal });
        const ports = isPublic === undefined ? null : await sandbox.publishPorts(isPublic, { signal });
        const changed =
          change === null
            ? await sandbox.get({ signal })
            : await sandbox.update(change(sandbox.info.labels), { signal });
        const labels = Object.entries(changed.labels).map(([key, value]) => `${key}=${value}`);
        output.answer({ ...changed, ...(ports !== null && { ports }) }, [
          `Expires: ${changed.expires_at ?? 'never'}`,
          `Labels: ${labels.join(', ') || 'none'}`,
          ...(changed.egress_deny.length === 0 ? [] : [`Denied: ${changed.egress_deny.join(', ')}`]),
          ...(ports === null ? [] : [`Ports: ${ports.public ? `public at ${ports.url}` : 'private'}`]),
        ]);
      }),
    );
}

/** Null if neither labels nor expiry change. */
function readChange({
  label,
  removeLabel,
  lifetime,
  keep,
}: UpdateFlags): ((labels: Readonly<Record<string, string>>) => SandboxUpdate) | null {
  const seconds = keep === true ? null : lifetime === undefined ? undefined : readSeconds(lifetime);
  const isLabelled = label !== undefined || removeLabel !== undefined;
  if (seconds === undefined && !isLabelled) return null;
  const added = readPairs(label ?? [], 'label');
  return (labels) => {
    const kept = Object.entries(labels).filter(([key]) => removeLabel?.includes(key) !== true);
    return {
      ...(isLabelled && { labels: { ...Object.fromEntries(kept), ...added } }),
      ...(seconds !== undefined && { expiresInSeconds: seconds }),
    };
  };
}
