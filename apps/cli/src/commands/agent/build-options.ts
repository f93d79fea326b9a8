import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option, type Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';

export interface BuildFlags {
  arch?: 'x64' | 'arm64';
}

/** The checkout that this command runs from: what is built. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
/** Beside the launcher's own Node. */
export const CACHE_FOLDER = resolve(PROJECT_ROOT, '.cache');

/** The processor of this machine. */
export const OWN_ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

/** `--arch`, which both builds have. */
export function buildCommand(agent: Command, name: string, description: string): Command {
  return agent
    .command(name)
    .description(description)
    .addOption(new Option('--arch <architecture>', 'Target architecture').choices(['x64', 'arm64']));
}

/** What a build lacks (a program, a package, the network) is the user's to give: one line with its cause, no stack. */
export async function built<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const cause =
      error.cause instanceof Error && error.cause.message !== error.message ? `: ${error.cause.message}` : '';
    throw new CommandFailure(`the build failed: ${error.message}${cause}`);
  }
}
