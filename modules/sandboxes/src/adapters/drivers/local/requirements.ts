import { accessSync, constants } from 'node:fs';

/** A distribution program that sandboxes require. */
export interface SandboxRequirement {
  readonly command: string;
  readonly debianPackage: string;
  readonly reason: string;
  /** Programs that can replace it. */
  readonly alternatives: readonly string[];
}

/** Programs that `svc up` may install. A function, so that loading this file has no effects. */
export function sandboxRequirements(): readonly SandboxRequirement[] {
  const of = (command: string, debianPackage: string, reason: string, alternatives: readonly string[] = []) => ({
    command,
    debianPackage,
    reason,
    alternatives,
  });
  return [
    of('crun', 'crun', 'runs sandboxes', ['runc']),
    of('mkfs.ext4', 'e2fsprogs', 'makes the disks of sandboxes, which limits them'),
    of('nft', 'nftables', 'keeps sandboxes apart and away from private networks'),
    of('mmdebstrap', 'mmdebstrap', 'makes the image debian'),
    of('busybox', 'busybox-static', 'makes the image busybox'),
    of('tar', 'tar', 'unpacks images'),
  ];
}

const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Absolute path of a program in the system's folders. */
export function findProgram(name: string): string | null {
  for (const folder of FOLDERS) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {
      // not in this folder
    }
  }
  return null;
}

export function missingRequirements(find: (name: string) => string | null = findProgram): SandboxRequirement[] {
  return sandboxRequirements().filter(({ command, alternatives }) =>
    [command, ...alternatives].every((name) => find(name) === null),
  );
}

export function installCommand(missing: readonly SandboxRequirement[]): string {
  return `apt-get install -y ${missing.map((each) => each.debianPackage).join(' ')}`;
}
