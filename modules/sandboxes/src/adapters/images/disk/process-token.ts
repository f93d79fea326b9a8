import { readFileSync } from 'node:fs';

/**
 * Identifies a process by its id and start time. The id alone is not enough, because a platform that is a container's
 * first process always has the same one.
 */
export function ownToken(): string {
  return `${process.pid}.${readStart(process.pid) ?? 0}`;
}

export function isTokenAlive(token: string): boolean {
  const [pid = 0, start = 0] = token.split('.').map(Number);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const found = readStart(pid);
  return found !== null && found === start;
}

/** Clock ticks from the machine's boot to the process's start (proc(5), `stat`, field 22); null if there is none. */
function readStart(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything, including spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[22 - 3]);
  } catch {
    return null; // it has ended, or this is not Linux
  }
}
