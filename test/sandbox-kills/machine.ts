import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { controllerMounts, namesIn, textOf } from './ground.ts';

/** The parent group of all sandboxes, in every hierarchy. */
export const PARENT_GROUP = 'svc-sandboxes';

export interface ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
  /** The sandbox whose control group it is in. */
  readonly sandboxId: string | null;
}

/** All running processes, excluding zombies. */
export function processes(): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // The name in parentheses may contain anything; the state and the parent follow the last one.
    const fields = textOf(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    const [state = 'X', parent = '0'] = fields;
    if (state === 'Z' || state === 'X' || fields.length < 2) continue;
    const group = textOf(`/proc/${name}/cgroup`);
    found.push({
      pid: Number(name),
      parentPid: Number(parent),
      command: textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim(),
      sandboxId: new RegExp(`/${PARENT_GROUP}/([^/\n]+)`).exec(group)?.[1] ?? null,
    });
  }
  return found;
}

/**
 * Launchers of a platform with this run folder. Excludes their forks, which briefly look the same but are in a
 * group.
 */
export function launchersIn(all: readonly ProcessFacts[], runFolder: string): ProcessFacts[] {
  return all.filter(
    ({ command, sandboxId }) =>
      sandboxId === null && command.includes(' host ') && command.endsWith(`--run ${runFolder}`),
  );
}

/** Control groups of sandboxes, with the hierarchies of each, and all others that are not ours. */
export function controlGroups(): { of: Map<string, string[]>; others: string[]; hierarchies: readonly string[] } {
  const of = new Map<string, string[]>();
  const others: string[] = [];
  const hierarchies = controllerMounts();
  for (const point of hierarchies) {
    for (const name of foldersIn(point)) if (name !== PARENT_GROUP) others.push(join(point, name));
    for (const id of foldersIn(join(point, PARENT_GROUP))) of.set(id, [...(of.get(id) ?? []), point]);
  }
  return { of, others, hierarchies };
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return []; // not created yet
  }
}

/** A file of a sandbox's control group, in any hierarchy. */
export function groupFile(sandboxId: string, ...names: readonly string[]): string {
  for (const point of controllerMounts()) {
    for (const name of names) {
      const text = textOf(join(point, PARENT_GROUP, sandboxId, name)).trim();
      if (text !== '') return text;
    }
  }
  return '';
}

export function isFrozen(sandboxId: string): boolean {
  const text = groupFile(sandboxId, 'freezer.state', 'cgroup.events');
  return text === 'FROZEN' || /^frozen 1$/m.test(text);
}

/** Sandboxes by slot number, as claimed by a platform with this run folder. */
export function slots(runFolder: string): Map<string, string> {
  const claims = new Map<string, string>();
  for (const slot of namesIn('/run/svc/slots')) {
    const folder = textOf(`/run/svc/slots/${slot}`).trim();
    if (folder.startsWith(`${runFolder}/`)) claims.set(slot, folder.split('/').at(-1) ?? '');
  }
  return claims;
}

/** Links of this network namespace, except loopback. */
export function links(): string[] {
  const lines = textOf('/proc/self/net/dev').split('\n').slice(2);
  return lines.map((line) => line.split(':')[0]?.trim() ?? '').filter((name) => name !== '' && name !== 'lo');
}

export function firewallTables(): string[] {
  const { stdout } = spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

/** Disk files attached to block devices, once per device. */
export function attachedFiles(dataFolder: string): string[] {
  return readdirSync('/sys/block')
    .map((name) => textOf(`/sys/block/${name}/loop/backing_file`).trim())
    .filter((file) => file.startsWith(`${dataFolder}/`));
}

export interface MountFacts {
  readonly pid: number;
  readonly place: string;
  readonly type: string;
}

/** Mounts in these folders or of namespaces, in every mount namespace, each reported through one of its processes. */
export function mountsNaming(folders: readonly string[], all: readonly ProcessFacts[]): MountFacts[] {
  const seen = new Set<string>();
  const found: MountFacts[] = [];
  for (const { pid } of all) {
    const namespace = linkTarget(`/proc/${pid}/ns/mnt`);
    if (namespace === null || seen.has(namespace)) continue;
    seen.add(namespace);
    for (const line of textOf(`/proc/${pid}/mountinfo`).split('\n')) {
      const [before = '', after = ''] = line.split(' - ');
      const [, , , root = '', place = ''] = before.split(' ');
      const type = after.split(' ')[0] ?? '';
      const isNamed = folders.some((folder) => place.startsWith(`${folder}/`) || root.startsWith(`${folder}/`));
      if (isNamed || type === 'nsfs') found.push({ pid, place, type });
    }
  }
  return found;
}

/** Open descriptors of a process that keep namespaces alive. */
export function namespaceDescriptors(pid: number): string[] {
  return namesIn(`/proc/${pid}/fd`)
    .map((descriptor) => linkTarget(`/proc/${pid}/fd/${descriptor}`) ?? '')
    .filter((target) => /^(net|user|mnt|pid|uts|ipc):\[/.test(target));
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // it ended meanwhile
  }
}

/** Temporary files of transfers, as seen by these first processes, except on file systems that end with them. */
export function halfTransfers(pids: readonly number[]): string[] {
  if (pids.length === 0) return []; // find would search the current folder
  const roots = pids.map((pid) => `/proc/${pid}/root/`);
  const names = ['-name', '.svc-write-*', '-o', '-name', '.svc-tar-*'];
  const { stdout } = spawnSync('find', [...roots, '-xdev', ...names], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((path) => (path === '' ? [] : [`${path} is left over`]));
}
