import { accessSync, constants, existsSync } from 'node:fs';
import { findProgram } from '@svc/system-packages';
import { describe } from 'vitest';

/** A requirement of a test that not every machine meets. `command:crun` = the program `crun` on PATH. */
export type RequirementName =
  | 'root'
  | 'linux'
  | 'chromium'
  | 'full-chromium'
  | 'go'
  | 'kvm'
  | 'fuse'
  | 'cgroups'
  | 'postgres'
  | 'python-websockets'
  | 'python-venv'
  | `command:${string}`
  | `environment:${string}`;

/** Debian packages whose name differs from the program's; the skip reason contains the install command. */
const DEBIAN_PACKAGES: Readonly<Record<string, string>> = {
  aws: 'awscli',
  busybox: 'busybox-static',
  ceph: 'ceph-common',
  dig: 'dnsutils',
  dnsmasq: 'dnsmasq-base',
  dockerd: 'docker.io',
  'mkfs.btrfs': 'btrfs-progs',
  docker: 'docker.io',
  etcd: 'etcd-server',
  nsenter: 'util-linux',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  '/usr/lib/postgresql': 'postgresql',
  go: 'golang-go',
  ip: 'iproute2',
  mc: 'minio-client',
  'mkfs.ext4': 'e2fsprogs',
  nft: 'nftables',
  psql: 'postgresql-client',
  '/usr/lib/python3/dist-packages/websockets': 'python3-websockets',
  python3: 'python3',
  '/usr/share/doc/python3-venv': 'python3-venv',
  fusermount: 'fuse3',
  getfattr: 'attr',
  xz: 'xz-utils',
  fusermount3: 'fuse3',
  scp: 'openssh-client',
  sftp: 'openssh-client',
  ssh: 'openssh-client',
  unshare: 'util-linux',
  script: 'bsdutils',
};

/** Returns null if all requirements are met, otherwise one line with what is missing and how to install it. */
export function requirement(...names: readonly RequirementName[]): string | null {
  for (const name of names) {
    const reason = reasonFor(name);
    if (reason !== null) return reason;
  }
  return null;
}

/**
 * Defines a suite with requirements. If one is missing, the suite is skipped and its title gives the reason, which `svc
 * test` reports.
 */
export function describeRequiring(names: readonly RequirementName[], title: string, suite: () => void): void {
  const reason = requirement(...names);
  describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), suite);
}

export function skippedTitle(title: string, reason: string): string {
  return `${title} [skipped: ${reason}]`;
}

/** Debian's path of the library, where `/usr/bin/python3` finds it. */
export const PYTHON_WEBSOCKETS = '/usr/lib/python3/dist-packages/websockets';

/** Marker of Debian's package for Python virtual environments. */
export const PYTHON_VENV = '/usr/share/doc/python3-venv';

/** Returns the Debian package that provides a program. */
export function debianPackageOf(command: string): string {
  return DEBIAN_PACKAGES[command] ?? command;
}

/** Returns the absolute path of a program on PATH or in the sbin folders; null if it is missing. */
export function findCommand(name: string, path = process.env['PATH'] ?? ''): string | null {
  return findProgram(name, path);
}

/** Finds Go on PATH or where its own archive installs it. */
export function findGo(): string | null {
  return findCommand('go') ?? findCommand('/usr/local/go/bin/go');
}

/**
 * Flags of `go build` for a program that tests only run. The same for all of them, so that the build cache holds one copy
 * of what they share. Without debug information and inlining, which take half of the compiler's time.
 */
export const GO_BUILD_FLAGS: readonly string[] = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false -l'];
/** Environment of `go`, likewise: the compiler collects garbage less often, which saves a sixth of its time. */
export const GO_ENVIRONMENT: Readonly<Record<string, string>> = {
  CGO_ENABLED: '0',
  GOFLAGS: '-mod=mod',
  GOGC: '400',
};

/** The build of Chromium without a user interface, which takes a fifth less processor time. */
export const HEADLESS_SHELL = 'chromium-headless-shell';

/** Finds the distribution's Chromium under any of its names. */
export function findFullChromium(): string | null {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']) {
    const path = findCommand(name);
    if (path !== null) return path;
  }
  return null;
}

/** Finds the headless shell, or else a full Chromium. */
export function findChromium(): string | null {
  return findCommand(HEADLESS_SHELL) ?? findFullChromium();
}

function reasonFor(name: RequirementName): string | null {
  if (name.startsWith('command:')) return commandReason(name.slice('command:'.length));
  if (name.startsWith('environment:')) {
    const variable = name.slice('environment:'.length);
    return (process.env[variable] ?? '') === '' ? `${variable} is not set` : null;
  }
  switch (name) {
    case 'root':
      return process.getuid?.() === 0 ? null : 'needs root; run it with sudo';
    case 'linux':
      return process.platform === 'linux' ? null : 'needs Linux';
    case 'chromium':
      return findChromium() === null ? `needs Chromium; install it with: apt-get install -y ${HEADLESS_SHELL}` : null;
    case 'full-chromium':
      return findFullChromium() === null ? 'needs Chromium; install it with: apt-get install -y chromium' : null;
    case 'go':
      return commandReason('go');
    case 'kvm':
      return isWritable('/dev/kvm') ? null : 'needs /dev/kvm';
    case 'cgroups':
      return existsSync('/sys/fs/cgroup') && isWritable('/sys/fs/cgroup') ? null : 'needs a writable cgroup hierarchy';
    case 'postgres':
      return reasonFor('environment:SVC_TEST_POSTGRES_URL');
    case 'python-websockets':
      if (existsSync(PYTHON_WEBSOCKETS)) return null;
      return 'needs Python websockets; install it with: apt-get install -y python3-websockets';
    case 'python-venv':
      return existsSync(PYTHON_VENV)
        ? null
        : 'needs virtual environments; install them with: apt-get install -y python3-venv';
    case 'fuse':
      return isWritable('/dev/fuse') ? null : 'needs /dev/fuse';
    default:
      throw new Error(`unknown requirement ${name}`);
  }
}

function commandReason(command: string): string | null {
  if (findCommand(command) !== null) return null;
  return `needs the command ${command}; install it with: apt-get install -y ${debianPackageOf(command)}`;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false; // absent or not permitted: the requirement is not met
  }
}
