import { pick } from './client.ts';
import type { Journal } from './journal.ts';
import { isFrozen, launchersIn, processes } from './machine.ts';
import { draw } from './random-source.ts';

export type Victim = 'platform' | 'launcher' | 'helper' | 'program';

const SHARES: readonly { readonly share: number; readonly victim: Victim }[] = [
  { share: 30, victim: 'platform' },
  { share: 40, victim: 'launcher' },
  { share: 20, victim: 'helper' },
  { share: 10, victim: 'program' },
];

export function drawVictim(random: () => number): Victim {
  return draw(random, SHARES).victim;
}

export interface Ground {
  readonly journal: Journal;
  readonly runFolder: string;
  readonly random: () => number;
}

/** Kills one process other than the platform. Returns false if there is none at the moment. */
export function killOne(victim: Exclude<Victim, 'platform'>, { journal, runFolder, random }: Ground): boolean {
  const all = processes();
  if (victim === 'launcher') {
    const pid = launchersIn(all, runFolder)[0]?.pid;
    journal.note(`launcher ${pid} is killed`);
    return kill(pid);
  }
  // A frozen process would only die on resume, long after the kill was recorded.
  const inside = all.filter(({ sandboxId }) => sandboxId !== null && !isFrozen(sandboxId));
  // The helper is the first process of its sandbox, even while that is being created.
  const isHelper = (pid: number, parentPid: number): boolean =>
    !inside.some((each) => each.pid === parentPid) && pid > 1;
  const candidates = inside.filter(({ pid, parentPid }) => isHelper(pid, parentPid) === (victim === 'helper'));
  const chosen = pick(random, candidates);
  if (chosen === undefined) return false;
  // A client may be waiting for a program in the sandbox.
  journal.willKill(chosen.sandboxId ?? '');
  journal.note(`${victim} ${chosen.pid} of ${chosen.sandboxId} is killed: ${chosen.command}`);
  return kill(chosen.pid);
}

function kill(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false; // it has just ended
  }
}
