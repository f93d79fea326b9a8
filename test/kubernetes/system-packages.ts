import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand } from './commands.ts';

/** Program (or file) -> Debian package. The API server alone needs only the first two. */
const API_PACKAGES = { etcd: 'etcd-server', openssl: 'openssl' };
const NODE_PACKAGES = {
  containerd: 'containerd',
  curl: 'curl',
  runc: 'runc',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  iptables: 'iptables',
  ip: 'iproute2',
  conntrack: 'conntrack',
  busybox: 'busybox-static',
  nsenter: 'util-linux',
};

/** Debian packages missing on this machine for this kind of cluster. */
export async function missingPackages(apiOnly: boolean): Promise<string[]> {
  const wanted = apiOnly ? API_PACKAGES : { ...API_PACKAGES, ...NODE_PACKAGES };
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(wanted)) {
    if ((await findProgram(program)) === null) missing.push(debianPackage);
  }
  return missing;
}

/** Installs missing packages as root; otherwise fails with the command to run. */
export async function ensurePackages(apiOnly: boolean): Promise<void> {
  const missing = await missingPackages(apiOnly);
  if (missing.length === 0) return;
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (process.getuid?.() !== 0) throw new Error(`missing packages; run: apt-get ${install.join(' ')}`);
  // RUNLEVEL=1 keeps maintainer scripts from starting the packages' daemons: this harness starts its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    await runCommand('apt-get', install, { env });
  } catch {
    await runCommand('apt-get', ['update'], { env }); // a fresh machine has no package lists yet
    await runCommand('apt-get', install, { env });
  }
}

/** PATH first: the runner puts its own Go there, and Debian's is years older. */
function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

export async function findProgram(name: string): Promise<string | null> {
  const folders = name.startsWith('/')
    ? ['']
    : [...pathFolders(), '/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // not here: the next folder
    }
  }
  return null;
}
