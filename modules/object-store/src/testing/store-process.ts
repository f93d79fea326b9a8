import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServedStore } from './serve-store.ts';

export interface StoreProcess extends ServedStore {
  /** SIGKILL: nothing is flushed, nothing is closed. */
  kill(): Promise<void>;
  /** SIGTERM: ends in good order. */
  stop(): Promise<void>;
  /** The most memory that it ever had, in bytes. */
  peakRssBytes(): number;
  rssBytes(): number;
}

export async function startStoreProcess(folder: string): Promise<StoreProcess> {
  const program = fileURLToPath(new URL('./serve-store.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--folder', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const served = await firstLine(child);
  const exited = once(child, 'exit');
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    ...served,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    peakRssBytes: () => readStatus(served.pid, 'VmHWM'),
    rssBytes: () => readStatus(served.pid, 'VmRSS'),
  };
}

async function firstLine(child: ChildProcess): Promise<ServedStore> {
  if (child.stdout === null) throw new Error('the store has no output');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the store ended at its start with code ${String(code)}`);
    }),
  ]);
  return JSON.parse(line) as ServedStore; // its own type
}

function readStatus(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}
