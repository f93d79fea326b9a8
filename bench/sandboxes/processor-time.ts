import { readdirSync, readFileSync } from 'node:fs';
import { processesOf, textOf } from './processes.ts';
import type { SvcSubject } from './svc-subject.ts';

/** Milliseconds of processor time per sandbox. */
export interface ProcessorFigures {
  readonly platform: number;
  readonly launcher: number;
  /** The sandbox's own processes. */
  readonly inside: number;
}

export interface ProcessorRound {
  readonly create: ProcessorFigures;
  readonly remove: ProcessorFigures;
}

const MS_PER_TICK = 10;
const NS_PER_MS = 1_000_000;

/** Creates `count` sandboxes, `parallel` at a time, waits until each is running, and removes all. */
export async function measureProcessor(svc: SvcSubject, count: number, parallel: number): Promise<ProcessorRound> {
  const launcher = launcherOf(svc.pid);
  const begun = [ticksOf(svc.pid), ticksOf(launcher)] as const;
  const ids = new Set<string>();
  const make = async (): Promise<void> => {
    while (ids.size + underWay < count) {
      underWay += 1;
      const id = await svc.make();
      underWay -= 1;
      ids.add(id);
    }
  };
  let underWay = 0;
  await Promise.all(Array.from({ length: parallel }, make));
  const inside = processesOf(ids).reduce((sum, pid) => sum + runMs(pid), 0);
  const created = [ticksOf(svc.pid), ticksOf(launcher)] as const;
  await svc.settle();
  const removed = [ticksOf(svc.pid), ticksOf(launcher)] as const;
  const each = (after: number, before: number): number => ((after - before) * MS_PER_TICK) / count;
  return {
    create: { platform: each(created[0], begun[0]), launcher: each(created[1], begun[1]), inside: inside / count },
    remove: { platform: each(removed[0], created[0]), launcher: each(removed[1], created[1]), inside: 0 },
  };
}

function launcherOf(platform: number): number {
  const isLauncher = (pid: string): boolean =>
    textOf(pid, 'cmdline').split('\0').includes('host') &&
    new RegExp(`^PPid:\\s+${platform}$`, 'm').test(textOf(pid, 'status'));
  const found = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isLauncher(name));
  if (found === undefined) throw new Error(`process ${platform} has no launcher`);
  return Number(found);
}

/** Of all threads, those that ended included, without children. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Finer than a tick, which is longer than most processes of a sandbox have run. */
function runMs(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    sum += Number(textOf(String(pid), `task/${thread}/schedstat`).split(' ')[0]) / NS_PER_MS;
  }
  return sum;
}
