import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderBytes } from '../../client/output.ts';
import { buildCommand, built, CACHE_FOLDER, OWN_ARCHITECTURE, PROJECT_ROOT, type BuildFlags } from './build-options.ts';

interface BinaryFlags extends BuildFlags {
  output: string;
}

/** `svc agent binary --output FILE`: builds the agent as a single executable for Linux. */
export function registerAgentBinary(agent: Command): void {
  buildCommand(agent, 'binary', 'Build the agent as a single-file binary')
    .requiredOption('--output <file>', 'Output file')
    .action(async (flags: BinaryFlags) => {
      const { buildBinary } = await import('@svc/agent/build');
      const output = resolve(flags.output);
      const architecture = flags.arch ?? OWN_ARCHITECTURE;
      const options = { root: PROJECT_ROOT, architecture, output, cacheFolder: CACHE_FOLDER };
      const { sizeBytes } = await built(() => buildBinary(options));
      process.stdout.write(`${output} (${architecture}, ${renderBytes(sizeBytes)})\n`);
    });
}
