import { link, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';

const POLL_MS = 100;
const MAX_WAIT_MS = 10 * 60_000;

/**
 * Runs the work while no other process runs it. The lock of a process that has ended is taken over; if two processes do
 * that at once, both work, which costs time and nothing else.
 */
export async function underLock<T>(
  lock: string,
  work: () => Promise<T>,
  options: { readonly onWait: () => void; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const folder = await mkdtemp(`${lock}-`);
  const mine = join(folder, 'pid');
  try {
    await writeFile(mine, `${process.pid}\n`);
    for (let waitedMs = 0; !(await take(mine, lock)); waitedMs += POLL_MS) {
      if (waitedMs === 0) options.onWait();
      if (waitedMs >= MAX_WAIT_MS) throw new Error(`another process has held ${lock} for 10 minutes`);
      await sleepFor(POLL_MS, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function take(mine: string, lock: string): Promise<boolean> {
  try {
    await link(mine, lock); // appears with its content
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of link
  }
  const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
  if (Number.isInteger(holder) && holder > 0 && !isAlive(holder)) await rm(lock, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // of kill: it belongs to another user
  }
}
