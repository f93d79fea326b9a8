import { fileURLToPath } from 'node:url';
import { AGENT_NODE_FLAGS } from '@svc/agent/node-flags';
import { CommandFailure } from '../../client/command-failure.ts';

/**
 * Turns this process into the agent, with the Node.js flags of the packaged one. A parent process that only waits would
 * cost 54 MiB.
 */
export function runAgent(given: readonly string[]): never {
  const entry = fileURLToPath(import.meta.resolve('@svc/agent/main'));
  const preloads = process.execArgv.filter((flag) => flag.startsWith('--require='));
  const flags = [...AGENT_NODE_FLAGS, ...preloads, '--disable-warning=ExperimentalWarning'];
  if (process.execve === undefined) {
    throw new CommandFailure(`svc agent is not supported on this system; run: node ${entry} ${given.join(' ')}`);
  }
  return process.execve(process.execPath, [process.execPath, ...flags, entry, ...given]);
}
