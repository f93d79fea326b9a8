import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Outcome } from './outcome.ts';

/** A variable that no program of this host has, unless a sandbox can set it. */
export const MARK = 'SVC_ESCAPE_MARK';

/** Processes outside of sandboxes that have the variable. */
export async function markedProcesses(): Promise<Outcome> {
  const here = await readlink('/proc/self/ns/pid');
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const space = await readlink(`/proc/${pid}/ns/pid`).catch(() => '');
    if (space === here && environment.includes(`${MARK}=set`)) found.push(pid);
  }
  return { done: found.length > 0 || process.env[MARK] !== undefined, detail: found.join(' ') };
}

/** The same with a program of this host that has the variable. */
export async function marksProcess(): Promise<Outcome> {
  const child = spawn('sleep', ['60'], { env: { [MARK]: 'set' }, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await once(child, 'spawn');
  const outcome = await markedProcesses();
  child.kill('SIGKILL');
  await ended;
  return outcome;
}
