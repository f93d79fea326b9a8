import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option, type Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';

export interface BuildFlags {
  arch?: 'x64' | 'arm64';
}

/** The checkout that contains this command; the build's source. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
/** The build cache, next to the launcher's own Node.js. */
export const CACHE_FOLDER = resolve(PROJECT_ROOT, '.cache');

/** Processor architecture of this machine. */
export const OWN_ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

/** A command that builds a deliverable, with the options of all builds, such as `--arch`. */
export function buildCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(new Option('--arch <architecture>', 'Target architecture').choices(['x64', 'arm64']))
    .hook('preAction', requireCheckout);
}

function requireCheckout(): void {
  if (existsSync(join(PROJECT_ROOT, '.node-packages'))) return;
  throw new CommandFailure('an installed svc lacks the sources; run this command from a checkout');
}

/**
 * Reports a missing program, package or network as one line with its cause, without a stack, since the user can fix it.
 */
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
