import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENT_NODE_FLAGS } from '@svc/agent/node-flags';
import { CommandFailure } from '../../client/command-failure.ts';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

/**
 * Turns this process into the agent, with the Node.js flags of the packaged one. A parent process that only waits would
 * cost 54 MiB.
 */
export async function runAgent(given: readonly string[]): Promise<never> {
  const entry = fileURLToPath(import.meta.resolve('@svc/agent/main'));
  if (process.execve === undefined) {
    throw new CommandFailure(`svc agent is not supported on this system; run: node ${entry} ${given.join(' ')}`);
  }
  const program = [...AGENT_NODE_FLAGS, ...(await programFlags(given, entry)), ...given];
  return process.execve(process.execPath, [process.execPath, ...program]);
}

/** One bundled file as delivered, 16 MiB smaller in memory than its sources; the sources for commands that end soon. */
async function programFlags(given: readonly string[], entry: string): Promise<string[]> {
  const quiet = '--disable-warning=ExperimentalWarning';
  const [verb = 'run'] = given;
  if (verb === 'run' || verb.startsWith('-')) {
    const bundle = await bundled();
    if (bundle !== null) return [quiet, bundle];
  }
  return [...process.execArgv.filter((flag) => flag.startsWith('--require=')), quiet, entry];
}

/** Null in an installed svc, which has no bundler, and in a checkout that cannot be written. */
async function bundled(): Promise<string | null> {
  if (!existsSync(fileURLToPath(import.meta.resolve('@svc/agent/build')))) return null;
  const { bundleCheckout } = await import('@svc/agent/build');
  try {
    return await bundleCheckout(ROOT, `${ROOT}.cache`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EROFS' || error.code === 'EACCES')) return null;
    throw error;
  }
}
