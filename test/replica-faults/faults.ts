import { setTimeout as delay } from 'node:timers/promises';
import type { CuttableProxy } from '@svc/testing';
import { pick } from '../sandbox-kills/client.ts';
import type { AgentLoad } from './agent-load.ts';
import type { Replica, World } from './world.ts';

type Part = 'replica' | 'link' | 'database' | 'engine';

interface Fault {
  /** Relative frequency. */
  readonly share: number;
  /** What it hits. Two faults at once hit different parts. */
  readonly parts: readonly Part[];
  /** Inflicts it and heals it. */
  readonly inflict: (hit: Hit) => Promise<void>;
}

interface Hit {
  readonly world: World;
  readonly agent: AgentLoad;
  readonly random: () => number;
  readonly replica: Replica;
  /** Resolves after a random time between these. */
  readonly between: (leastMs: number, mostMs: number) => Promise<void>;
}

/** Longer than the lease of a replica. */
const BEYOND_LEASE_MS = 13_000;
/** Longer than it takes until the sandboxes of a node are reported as lost. */
const BEYOND_LOSS_MS = 32_000;
const REPLICA: readonly Part[] = ['replica'];
const ALL: readonly Part[] = ['replica', 'link', 'database', 'engine'];

export const FAULTS = {
  kill: {
    share: 20,
    parts: REPLICA,
    inflict: async ({ world, agent, replica, between }) => {
      const hadAgent = await agent.isHeldBy(replica);
      await world.kill(replica);
      const takeover = hadAgent === true ? agent.measureTakeover(replica) : undefined;
      await between(0, 3_000);
      await world.start(replica);
      await takeover;
    },
  },
  pause: {
    share: 14,
    parts: REPLICA,
    inflict: ({ replica, between }) => paused(replica, () => between(500, 5_000)),
  },
  'pause beyond the lease': {
    share: 6,
    parts: REPLICA,
    inflict: ({ replica, between }) => paused(replica, () => between(BEYOND_LEASE_MS, BEYOND_LEASE_MS + 6_000)),
  },
  'cut link': {
    share: 14,
    parts: ['link'],
    inflict: async ({ replica, between }) => {
      await Promise.all(replica.links.map((link) => link.cut()));
      await between(0, 5_000);
      await restored(replica.links);
    },
  },
  'silent link': {
    share: 7,
    parts: ['link'],
    inflict: async ({ replica, random, between }) => {
      const which = random() < 0.5 ? 'all' : 'open';
      for (const link of replica.links) link.silence(which);
      await between(1_000, 15_000);
      await Promise.all(replica.links.map((link) => link.cut()));
      await restored(replica.links);
    },
  },
  'slow link': {
    share: 9,
    parts: ['link'],
    inflict: async ({ replica, random, between }) => {
      for (const link of replica.links) link.slow(5 + random() * 100);
      await between(2_000, 6_000);
      await restored(replica.links);
    },
  },
  'restart of the primary': {
    share: 7,
    parts: ['database'],
    inflict: ({ world, between }) => world.database.restartPrimary(() => between(0, 4_000)),
  },
  'restart of the standby': {
    share: 4,
    parts: ['database'],
    inflict: ({ world, between }) => world.database.restartStandby(() => between(0, 3_000)),
  },
  failover: {
    share: 5,
    parts: ['database'],
    inflict: ({ world }) => world.database.failOver(),
  },
  'restart of the engine': {
    share: 8,
    parts: ['engine'],
    inflict: async ({ world, between }) => {
      await world.engine.kill();
      await between(0, 6_000);
      await world.engine.restart();
    },
  },
  'lost node': {
    share: 2,
    parts: ALL,
    inflict: async ({ world, replica }) => {
      await world.loseNode(replica);
      await delay(BEYOND_LOSS_MS);
      await world.returnNode(replica);
    },
  },
  'rolling restart': {
    share: 4,
    parts: ALL,
    inflict: async ({ world }) => {
      for (const each of world.replicas) {
        if (!(await world.stop(each))) world.note(`${each.name} did not end with exit code 0`);
        await world.start(each);
      }
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;

/** Each fault once if there are enough, then by share; deterministic for a seed. */
export function planFaults(howMany: number, random: () => number): FaultName[] {
  const names = Object.keys(FAULTS) as FaultName[]; // the keys of the table above
  const total = names.reduce((sum, name) => sum + FAULTS[name].share, 0);
  const draw = (): FaultName => {
    let left = random() * total;
    return names.find((name) => (left -= FAULTS[name].share) < 0) ?? 'kill';
  };
  const plan = [...names, ...Array.from({ length: Math.max(0, howMany - names.length) }, draw)].slice(0, howMany);
  for (let index = plan.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [plan[index], plan[other]] = [plan[other] ?? 'kill', plan[index] ?? 'kill'];
  }
  return plan;
}

/** Whether two faults may be inflicted at once. */
export function areApart(one: FaultName, other: FaultName): boolean {
  const parts: readonly Part[] = FAULTS[one].parts;
  return !FAULTS[other].parts.some((part) => parts.includes(part));
}

/** Inflicts a fault on a random replica or on what all share; resolves once it is healed. */
export async function inflict(name: FaultName, world: World, agent: AgentLoad, random: () => number): Promise<void> {
  const replica = pick(random, world.replicas);
  if (replica === undefined) throw new Error('there are no replicas');
  const between = (leastMs: number, mostMs: number): Promise<void> => delay(leastMs + random() * (mostMs - leastMs));
  world.note(`${name} (${FAULTS[name].parts.length > 1 ? 'all' : replica.name})`);
  await FAULTS[name].inflict({ world, agent, random, replica, between });
  world.note(`end of ${name}`);
}

async function paused({ platform }: Replica, wait: () => Promise<void>): Promise<void> {
  if (platform === null) return;
  process.kill(platform.ready.pid, 'SIGSTOP');
  await wait();
  process.kill(platform.ready.pid, 'SIGCONT');
}

async function restored(links: readonly CuttableProxy[]): Promise<void> {
  await Promise.all(links.map((link) => link.restore()));
}
