import type { SandboxResources } from '../../../../domain/driver.ts';
import { HELPER_PATH } from '../oci-config.ts';

/** gVisor's own threads, plus one per process inside, count in the host's group. */
const OWN_PROCESSES = 256;

/**
 * Adapts an OCI configuration to gVisor. Its kernel already filters the system calls it makes to the host, so the OCI
 * filter is dropped. It accepts no host sockets, so the helper is reached through a program started inside.
 */
export function runscConfig(
  config: Readonly<Record<string, unknown>>,
  { pids }: SandboxResources,
): Readonly<Record<string, unknown>> {
  const process = config['process'] as object; // built by us
  const { seccomp: _seccomp, ...linux } = config['linux'] as Record<string, unknown>;
  return {
    ...config,
    process: {
      ...process,
      args: [HELPER_PATH, 'init', '--bridged'],
      rlimits: [{ type: 'RLIMIT_NPROC', soft: pids, hard: pids }],
    },
    linux,
  };
}

/** The process limit of the host's group. Inside, the limit applies to each user separately. */
export function hostPids({ pids }: SandboxResources): number {
  return 2 * pids + OWN_PROCESSES;
}
