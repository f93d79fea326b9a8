import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { tokenLines } from './add.ts';
import { withClusters } from './with-clusters.ts';

interface TokenFlags extends ConnectionFlags {
  overlap: string;
}

export function registerClusterToken(parent: Command): void {
  addConnectionOptions(parent.command('token'))
    .description('make a new token of the agent; the older one ends')
    .argument('<cluster>', 'name or id')
    .option('--overlap <time>', 'the older one lives on for so long, a day at most', '0')
    .action((name: string, flags: TokenFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const overlapSeconds = Math.ceil(readDurationMs(flags.overlap) / 1000);
        const rotated = await clusters.of(name).rotateToken({ overlapSeconds, signal });
        output.answer(rotated, tokenLines(rotated));
      }),
    );
}
