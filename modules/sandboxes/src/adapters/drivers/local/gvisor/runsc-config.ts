import type { SandboxResources } from '../../../../domain/driver.ts';
import { AGENT_PATH } from '../oci-config.ts';

/**
 * - `platform`: needs no KVM.
 * - `ignore-cgroups`: the launcher starts it inside of the sandbox's group.
 * - `overlay2`: files are written to the sandbox's disk, not to one that ends with the process.
 * - `network`: gVisor's own stack on the sandbox's interface, never that of the host.
 */
export const RUNSC_FLAGS: readonly string[] = [
  '--platform=systrap',
  '--ignore-cgroups',
  '--overlay2=none',
  '--network=sandbox',
];

/** gVisor's own threads, and one that stands for each process inside, count in the group of the host. */
const OWN_PROCESSES = 256;

/**
 * gVisor filters what its kernel asks of the host by itself; an OCI filter would be for programs that ask the host. It
 * takes no socket of the host, so the helper is reached by a program that is started beside it.
 */
export function runscConfig(
  config: Readonly<Record<string, unknown>>,
  { pids }: SandboxResources,
): Readonly<Record<string, unknown>> {
  const process = config['process'] as object; // of our own making
  const { seccomp: _seccomp, ...linux } = config['linux'] as Record<string, unknown>;
  return {
    ...config,
    process: {
      ...process,
      args: [AGENT_PATH, 'init', '--bridged'],
      rlimits: [{ type: 'RLIMIT_NPROC', soft: pids, hard: pids }],
    },
    linux,
  };
}

/** What the group of the host holds it to: each user inside has the limit of processes for itself. */
export function hostPids({ pids }: SandboxResources): number {
  return 2 * pids + OWN_PROCESSES;
}
