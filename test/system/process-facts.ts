import { type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Facts about a process from Linux, each as of the call. */

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

/** Milliseconds of processor time so far, of all its threads. Linux counts in steps of 10 ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []; // the name may have spaces
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Counts open descriptors by kind: `socket`, `pipe`, `anon_inode`, and `file` for everything with a path. */
export function openDescriptors(pid: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const target = linkTarget(`/proc/${pid}/fd/${descriptor}`);
    if (target === null) continue;
    const kind = target.startsWith('/') ? 'file' : (target.split(':')[0] ?? 'other');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Command lines of all descendants of a process, by process id. */
export function descendants(pid: number): Map<number, string> {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? parentOf(Number(entry)) : null;
    if (parent !== null) parents.set(Number(entry), parent);
  }
  const found = new Map<number, string>();
  const visit = (ancestor: number): void => {
    for (const [child, parent] of parents) {
      if (parent !== ancestor || found.has(child)) continue;
      found.set(child, commandLine(child));
      visit(child);
    }
  };
  visit(pid);
  return found;
}

/** Mount points of this machine whose path contains the text. */
export function mountsContaining(text: string): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((path) => path.includes(text));
}

/** Relative paths of all files below a folder; empty if it is deleted meanwhile. */
export function filesBelow(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((path) => join(entry.name, path)) : [entry.name],
  );
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function parentOf(pid: number): number | null {
  try {
    // The name in parentheses may contain anything; state and parent follow the last one.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return fields?.[0] === 'Z' ? null : Number(fields?.[1]);
  } catch {
    return null; // it ended between listing and reading
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // as above
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // closed between listing and reading
  }
}
