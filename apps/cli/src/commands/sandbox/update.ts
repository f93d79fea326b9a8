import { Option, type Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, readPairs, readSeconds, withSandboxes } from './with-sandboxes.ts';

interface UpdateFlags extends ConnectionFlags {
  label?: string[];
  removeLabel?: string[];
  lifetime?: string;
  keep?: boolean;
}

export function registerSandboxUpdate(parent: Command): void {
  addConnectionOptions(parent.command('update'))
    .description('Change the labels of a sandbox, or when it expires')
    .argument('<name or id>')
    .option('--label <KEY=VALUE>', 'Add or change a label; repeatable', collect)
    .option('--remove-label <KEY>', 'Remove a label; repeatable', collect)
    .addOption(new Option('--lifetime <time>', 'Expire this long from now, such as 12h').conflicts('keep'))
    .option('--keep', 'Never expire')
    .action((name: string, flags: UpdateFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const { label, removeLabel, lifetime, keep } = flags;
        const seconds = keep === true ? null : lifetime === undefined ? undefined : readSeconds(lifetime);
        const isLabelled = label !== undefined || removeLabel !== undefined;
        if (seconds === undefined && !isLabelled) {
          throw usageFailure('nothing to change', 'use --label, --remove-label, --lifetime or --keep');
        }
        const added = readPairs(label ?? [], 'label');
        const sandbox = await find(name);
        const kept = Object.entries(sandbox.info.labels).filter(([key]) => removeLabel?.includes(key) !== true);
        const changed = await sandbox.update(
          {
            ...(isLabelled && { labels: { ...Object.fromEntries(kept), ...added } }),
            ...(seconds !== undefined && { expiresInSeconds: seconds }),
          },
          { signal },
        );
        const labels = Object.entries(changed.labels).map(([key, value]) => `${key}=${value}`);
        output.answer(changed, [`Expires: ${changed.expires_at ?? 'never'}`, `Labels: ${labels.join(', ') || 'none'}`]);
      }),
    );
}
