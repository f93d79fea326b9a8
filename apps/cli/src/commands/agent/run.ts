import { fileURLToPath } from 'node:url';
import { AGENT_NODE_FLAGS } from '@svc/agent/node-flags';
import { CommandFailure } from '../../client/command-failure.ts';

/**
 * Becomes the agent: the same process, with the flags that the delivered one starts Node with. A process that only waits
 * for another would keep 54 MiB.
 */
export function runAgent(given: readonly string[]): never {
  const entry = fileURLToPath(import.meta.resolve('@svc/agent/main'));
  const flags = [...AGENT_NODE_FLAGS, '--disable-warning=ExperimentalWarning'];
  if (process.execve === undefined) {
    throw new CommandFailure(`svc agent is not supported on this system; run: node ${entry} ${given.join(' ')}`);
  }
  return process.execve(process.execPath, [process.execPath, ...flags, entry, ...given]);
}
