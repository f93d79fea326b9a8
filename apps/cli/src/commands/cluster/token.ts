import type { RotatedToken } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { installLines, tokenLine } from './add.ts';
import { withClusters } from './with-clusters.ts';

interface TokenFlags extends ConnectionFlags {
  overlap: string;
  install?: true;
}

/** Excludes the full installation, which would reset the chart's values to their initial ones. */
function handOverLines({ install }: RotatedToken): string[] {
  return ['To the agent that runs; it reads it within a minute or two, without a restart:', install.secret];
}

export function registerClusterToken(parent: Command): void {
  addConnectionOptions(parent.command('token'))
    .description('Rotate the agent token')
    .argument('<cluster>', 'Cluster name or ID')
    .option('--overlap <time>', 'Keep the old token valid for this long, at most 24h', '0')
    .option('--install', 'Print full install commands instead of the token update only')
    .action((name: string, flags: TokenFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const overlapSeconds = Math.ceil(readDurationMs(flags.overlap) / 1000);
        const rotated = await clusters.of(name).rotateToken({ overlapSeconds, signal });
        output.answer(rotated, [
          tokenLine(rotated.token),
          '',
          ...(flags.install === undefined ? handOverLines(rotated) : installLines(rotated.install)),
        ]);
      }),
    );
}
