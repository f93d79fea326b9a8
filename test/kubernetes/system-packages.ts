import { ensureSystemPackages, type SystemPackage } from '@svc/system-packages';
import { debianPackageOf, findCommand } from '@svc/testing';

/** The API server alone needs only these. */
const API_PROGRAMS = ['etcd', 'openssl'];
const NODE_PROGRAMS = [
  'containerd',
  'curl',
  'runc',
  '/usr/lib/cni/bridge',
  'iptables',
  'ip',
  'conntrack',
  'busybox',
  'nsenter',
];

/** Programs of this kind of cluster. */
export function clusterPrograms(apiOnly: boolean): readonly string[] {
  return apiOnly ? API_PROGRAMS : [...API_PROGRAMS, ...NODE_PROGRAMS];
}

/** Debian packages of the programs that this machine lacks. */
export function missingPackages(programs: readonly string[]): string[] {
  return programs.filter((program) => findCommand(program) === null).map(debianPackageOf);
}

/** Installs the packages of missing programs as root; otherwise throws with the command to run. */
export async function ensurePrograms(neededFor: string, programs: readonly string[]): Promise<void> {
  const wanted: SystemPackage[] = programs.map((program) => ({
    provides: program,
    package: debianPackageOf(program),
    neededFor,
  }));
  const { command } = await ensureSystemPackages(wanted, {
    path: process.env['PATH'] ?? '',
    isRoot: process.getuid?.() === 0,
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  if (command !== null) throw new Error(`${neededFor} needs packages; run: ${command}`);
}
