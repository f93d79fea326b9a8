import { runCommand } from '../kubernetes/commands.ts';
import { findProgram } from '../kubernetes/system-packages.ts';

const PACKAGES = { 'ceph-mon': 'ceph-mon', 'ceph-osd': 'ceph-osd', ceph: 'ceph-common', radosgw: 'radosgw' };

/** Installs missing packages as root; otherwise throws with the install command. */
export async function ensureCephPackages(): Promise<void> {
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(PACKAGES)) {
    if ((await findProgram(program)) === null) missing.push(debianPackage);
  }
  if (missing.length === 0) return;
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (process.getuid?.() !== 0) throw new Error(`missing packages; run: apt-get ${install.join(' ')}`);
  // RUNLEVEL=1 prevents maintainer scripts from starting daemons, since this harness starts its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    await runCommand('apt-get', install, { env });
  } catch {
    await runCommand('apt-get', ['update'], { env });
    await runCommand('apt-get', install, { env });
  }
}
