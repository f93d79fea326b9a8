import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServedStore } from './serve-store.ts';

export interface StoreProcess extends ServedStore {
  /** Sends SIGKILL: nothing is flushed or closed. */
  kill(): Promise<void>;
  /** Sends SIGTERM: shuts down in order. */
  stop(): Promise<void>;
  /** Peak resident memory, in bytes. */
  peakRssBytes(): number;
  rssBytes(): number;
}

export function startStoreProcess(folder: string): Promise<StoreProcess> {
  return startServing(fileURLToPath(new URL('./serve-store.ts', import.meta.url)), folder);
}

/** Starts a program that prints what it serves as JSON on its first line. */
export async function startServing<Served extends ServedStore>(
  program: string,
  folder: string,
): Promise<Served & Omit<StoreProcess, keyof ServedStore>> {
  const child = spawn(process.execPath, [program, '--folder', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const served = JSON.parse(await firstLine(child)) as Served; // the type of the program's output
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

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the store has no output');
  const lines = createInterface({ input: child.stdout });
  return await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the store ended at its start with code ${String(code)}`);
    }),
  ]);
}

function readStatus(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}
