import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { findingsOf } from './checker.ts';
import { inflict, planFaults, type FaultName } from './faults.ts';
import { startObserver, type Observer } from './observer.ts';
import { isFinished } from './platform-api.ts';
import { seededRandom } from './random.ts';
import { count, type CommandRecord, type Records } from './records.ts';
import { startWorkload, type Workload } from './workload.ts';
import { NAMESPACE, WORKER, type World } from './world.ts';

export interface CampaignOptions {
  faults: number;
  seed: number;
  /** Part of every name created in the round: several rounds share a world. */
  round?: string;
  signal: AbortSignal;
  /** Called before each fault with the number of commands in flight. */
  onFault?: (index: number, fault: FaultName, inFlight: number) => void;
  /** Called as each stage of the round begins, so that a hanging stage can be identified. */
  onStage?: (stage: string) => void;
  /** Runs after the faults, while everything still works: plants the control's errors. */
  interfere?: (commands: CommandRecord[]) => Promise<void>;
  /** Pods without events, which need not be waited for. */
  unheard?: readonly string[];
}

export interface CampaignReport {
  findings: string[];
  records: Records;
  inflicted: number;
}

const SETTLE_MS = 240_000;
const LONGEST_PAUSE_MS = 700;
const COMMANDS_AT_ONCE = 8;

/** Injects faults while everything works, lets it settle, then compares both sides. */
export async function runCampaign(world: World, options: CampaignOptions): Promise<CampaignReport> {
  const { faults, seed, round = 'first', signal, onFault, interfere, unheard = [] } = options;
  const stage = options.onStage ?? (() => undefined);
  const random = seededRandom(seed);
  const agentKilledAtMs: number[] = [];
  const observer = await startObserver(world);
  const working = new AbortController();
  const workload = startWorkload(world, round, seededRandom(seed + 1), working.signal);
  let inflicted = 0;
  try {
    stage('until all works');
    await untilAllWorks(world, workload);
    stage('faults');
    for (const fault of planFaults(faults, random)) {
      if (signal.aborted) break;
      onFault?.(inflicted, fault, workload.inFlight());
      await inflict(fault, world, random, () => agentKilledAtMs.push(Date.now()));
      inflicted += 1;
      await delay(50 + random() * LONGEST_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      // Most faults hit a working agent; some hit one that has not recovered from the last fault.
      if (random() < 0.7)
        await waitFor(() => world.api.isConnected(), { timeoutMs: SETTLE_MS, description: 'the agent' });
    }
    stage('enough work');
    await untilEnoughWork(observer, inflicted);
    stage('peace');
    await interfere?.(workload.commands);
    await waitFor(() => world.api.isConnected(), { timeoutMs: SETTLE_MS, description: 'the agent to come back' });
  } finally {
    stage('no more work');
    working.abort();
    await workload.done;
  }
  stage('results');
  await settleCommands(world, workload.commands);
  stage('events');
  await settleEvents(world, observer, unheard);
  stage('what both sides say');
  const records = await recordsOf(world, observer, { ...workload, agentKilledAtMs });
  await observer.stop();
  return { findings: findingsOf(records), records, inflicted };
}

/** Waits until everything has worked once; a fault before that proves nothing. */
async function untilAllWorks({ api }: World, { commands, logs }: Workload): Promise<void> {
  await waitFor(() => logs.some(({ numbers }) => numbers.length > 5), { timeoutMs: SETTLE_MS, description: 'a log' });
  for (const kind of ['deploy', 'exec'] as const) {
    const { id } = await waitFor(() => commands.find((each) => each.kind === kind && each.id !== null));
    const succeeded = async (): Promise<boolean> => id !== null && (await api.command(id))?.status === 'succeeded';
    await waitFor(succeeded, { timeoutMs: SETTLE_MS, description: `the first ${kind}` });
  }
}

/**
 * Waits for more deleted pods than faults. Pods are created at a fixed pace, while a fast machine injects faults
 * sooner.
 */
async function untilEnoughWork({ podsDeleted }: Observer, faults: number): Promise<void> {
  await waitFor(() => podsDeleted.size > faults, { timeoutMs: SETTLE_MS, description: 'more pods than faults' });
}

/** Work still open after this is a finding, not an error. */
async function quietly(condition: () => Promise<boolean>): Promise<void> {
  await waitFor(condition, { timeoutMs: SETTLE_MS, intervalMs: 200 }).catch(() => undefined);
}

async function settleCommands({ api }: World, commands: readonly CommandRecord[]): Promise<void> {
  const left = [...commands];
  const settle = async (): Promise<void> => {
    for (let command = left.shift(); command !== undefined; command = left.shift()) {
      const { id } = command;
      if (id === null) continue;
      const known = command;
      await quietly(async () => {
        const seen = await api.command(id);
        if (seen === null) return true; // unknown for good
        if (isFinished(seen)) known.seen = seen;
        return isFinished(seen);
      });
    }
  };
  await Promise.all(Array.from({ length: COMMANDS_AT_ONCE }, settle));
}

async function settleEvents({ api }: World, observer: Observer, unheard: readonly string[]): Promise<void> {
  await quietly(async () => {
    const told = new Set((await api.events(NAMESPACE)).map(({ event_type: type, resource }) => type + resource));
    const expected = [...observer.podsCreated].filter((name) => !unheard.includes(name));
    const created = expected.every((name) => told.has(`pod_createdpod/${name}`));
    return created && [...observer.podsDeleted].every((name) => told.has(`pod_deletedpod/${name}`));
  });
}

async function recordsOf(
  { api, kubernetes }: World,
  { applied, podsCreated, podsDeleted }: Observer,
  sides: Pick<Records, 'commands' | 'logs' | 'agentKilledAtMs'>,
): Promise<Records> {
  const events = new Map<string, number>();
  for (const { event_type: type, resource } of await api.events(NAMESPACE)) {
    if (type === 'pod_created' || type === 'pod_deleted') count(events, `${type} ${resource}`);
  }
  const droppedEvents = (await api.events('')).filter(({ event_type: type }) => type === 'events_dropped').length;
  const journal = new Map<string, number>();
  const text = await kubernetes.kubectl('-n', NAMESPACE, 'exec', WORKER, '--', 'cat', '/tmp/journal');
  for (const line of text.split('\n').filter((each) => each !== '')) count(journal, line);
  return { ...sides, applied, podsCreated, podsDeleted, events, droppedEvents, journal };
}
