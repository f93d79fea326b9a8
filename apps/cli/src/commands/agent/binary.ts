import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderBytes } from '../../client/output.ts';
import { buildCommand, built, CACHE_FOLDER, PROJECT_ROOT, type BuildFlags } from './build-options.ts';

/** `svc agent binary --output FILE`: the agent as one program for Linux. */
export function registerAgentBinary(agent: Command): void {
  buildCommand(agent, 'binary', 'write the agent as one program that needs no Node').action(
    async (flags: BuildFlags) => {
      const { buildBinary } = await import('@svc/agent/build');
      const output = resolve(flags.output);
      const options = { root: PROJECT_ROOT, architecture: flags.arch, output, cacheFolder: CACHE_FOLDER };
      const { sizeBytes } = await built(() => buildBinary(options));
      process.stdout.write(`${output} (${flags.arch}, ${renderBytes(sizeBytes)})\n`);
    },
  );
}
