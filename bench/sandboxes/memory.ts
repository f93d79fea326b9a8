import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { SvcSubject } from './svc-subject.ts';

export interface MemoryFigures {
  readonly sandboxes: number;
  /** Proportional set size of everything that runs in them, for each. */
  readonly sandboxBytes: number;
  /** Of that the helper, which is PID 1 of each. */
  readonly helperBytes: number;
  /** Of the platform's process, for each. */
  readonly platformBytes: number;
  /** What the machine has less of, for each: also the kernel's own. */
  readonly machineBytes: number;
}

const MiB = 1024 * 1024;

export async function measureMemory(svc: SvcSubject, count: number): Promise<MemoryFigures> {
  const before = { platform: proportionalBytes(svc.pid), machine: await availableBytes(), processes: helpers() };
  for (let index = 0; index < count; index += 1) await svc.make();
  const machine = before.machine - (await availableBytes());
  const made = [...helpers()].filter((pid) => !before.processes.has(pid));
  const helperBytes = made.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  const platformBytes = proportionalBytes(svc.pid) - before.platform;
  await svc.settle();
  return {
    sandboxes: made.length,
    sandboxBytes: helperBytes / made.length,
    helperBytes: helperBytes / made.length,
    platformBytes: platformBytes / made.length,
    machineBytes: machine / made.length,
  };
}

/** How many idle sandboxes fit in so much memory. */
export function fittingIn(gibibytes: number, figures: MemoryFigures): number {
  const { machineBytes, sandboxBytes, platformBytes } = figures;
  return Math.floor((gibibytes * 1024 * MiB) / Math.max(machineBytes, sandboxBytes + platformBytes));
}

/** First processes of sandboxes: nothing else of an idle one runs. */
function helpers(): Set<number> {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isHelper(name));
  return new Set(found.map(Number));
}

function isHelper(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/.sandbox/agent\0init');
  } catch {
    return false; // it ended meanwhile
  }
}

function proportionalBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024;
}

async function availableBytes(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024;
}
