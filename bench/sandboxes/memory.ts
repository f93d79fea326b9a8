import { readFile } from 'node:fs/promises';
import { processesOf, textOf } from './processes.ts';
import type { SvcSubject } from './svc-subject.ts';

export interface MemoryFigures {
  readonly sandboxes: number;
  /** Proportional set size of all processes in a sandbox, per sandbox. */
  readonly sandboxBytes: number;
  /** Memory of the platform's process, per sandbox. */
  readonly platformBytes: number;
  /** Decrease of the machine's available memory, per sandbox; includes the kernel's own. */
  readonly machineBytes: number;
}

const MiB = 1024 * 1024;

export async function measureMemory(svc: SvcSubject, count: number): Promise<MemoryFigures> {
  const before = { platform: proportionalBytes(svc.pid), machine: await availableBytes() };
  const ids = new Set<string>();
  for (let index = 0; index < count; index += 1) ids.add(await svc.make());
  const machine = before.machine - (await availableBytes());
  const sandboxBytes = processesOf(ids).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  const platformBytes = proportionalBytes(svc.pid) - before.platform;
  await svc.settle();
  return {
    sandboxes: count,
    sandboxBytes: sandboxBytes / count,
    platformBytes: platformBytes / count,
    machineBytes: machine / count,
  };
}

/** Number of idle sandboxes that fit into this much memory. */
export function fittingIn(gibibytes: number, figures: MemoryFigures): number {
  const { machineBytes, sandboxBytes, platformBytes } = figures;
  return Math.floor((gibibytes * 1024 * MiB) / Math.max(machineBytes, sandboxBytes + platformBytes));
}

function proportionalBytes(pid: number): number {
  const pss = /^Pss:\s+(\d+) kB$/m.exec(textOf(String(pid), 'smaps_rollup'))?.[1];
  return Number(pss ?? 0) * 1024;
}

async function availableBytes(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024;
}
