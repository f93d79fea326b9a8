import { readdirSync, readFileSync } from 'node:fs';

/** Returns the processes in the cgroups of these sandboxes, and the programs that refer to them by id. */
export function processesOf(ids: ReadonlySet<string>): number[] {
  const named = (text: string): boolean => [...text.matchAll(/sbx_[a-z0-9]+/g)].some(([id]) => ids.has(id));
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return found.filter((pid) => named(textOf(pid, 'cgroup')) || named(textOf(pid, 'cmdline'))).map(Number);
}

/** A file of a process; empty if the process has ended. */
export function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
