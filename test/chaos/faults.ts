import { setTimeout as delay } from 'node:timers/promises';
import type { World } from './world.ts';

export type FaultName = 'cut' | 'cuts' | 'stall' | 'half-open' | 'kill-agent' | 'kill-platform' | 'kill-both';

/** Relative frequency of each fault. A half-open link costs half a minute until its ends notice. */
const WEIGHTS: Readonly<Record<FaultName, number>> = {
  cut: 40,
  cuts: 12,
  stall: 12,
  'half-open': 3,
  'kill-agent': 20,
  'kill-platform': 10,
  'kill-both': 3,
};

/** Each fault at least once if there are enough, then by weight; deterministic for a seed. */
export function planFaults(howMany: number, random: () => number): FaultName[] {
  const names = Object.keys(WEIGHTS) as FaultName[]; // the keys of the table above
  const total = names.reduce((sum, name) => sum + WEIGHTS[name], 0);
  const draw = (): FaultName => {
    let left = random() * total;
    return names.find((name) => (left -= WEIGHTS[name]) < 0) ?? 'cut';
  };
  const plan = [...names, ...Array.from({ length: Math.max(0, howMany - names.length) }, draw)].slice(0, howMany);
  for (let index = plan.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [plan[index], plan[other]] = [plan[other] ?? 'cut', plan[index] ?? 'cut'];
  }
  return plan;
}

/** Injects one fault and restarts the process if one was killed. */
export async function inflict(
  fault: FaultName,
  world: World,
  random: () => number,
  agentKilled: () => void,
): Promise<void> {
  const { link, agent } = world;
  const killAgent = async (): Promise<void> => {
    agentKilled();
    await agent.kill();
    await delay(random() * 1000);
    agent.start();
  };
  const killPlatform = async (): Promise<void> => {
    await world.killPlatform();
    await delay(random() * 500);
    await world.startPlatform();
  };
  switch (fault) {
    case 'cut':
      link.cut();
      return;
    case 'cuts':
      for (let index = 0; index < 5; index += 1) {
        link.cut();
        await delay(random() * 150);
      }
      return;
    case 'stall': {
      const resume = link.stall();
      await delay(500 + random() * 3000);
      resume();
      return;
    }
    case 'half-open':
      link.halfOpen();
      return;
    case 'kill-agent':
      return killAgent();
    case 'kill-platform':
      return killPlatform();
    case 'kill-both':
      await Promise.all([killAgent(), killPlatform()]);
  }
}
