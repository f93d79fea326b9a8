import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '@svc/test/run-program';
import type { ClientCall, ObjectClient } from './clients.ts';
import { MEASURES, type Sources } from './measures.ts';

export interface RoundsOptions {
  clients: readonly ObjectClient[];
  sources: Sources;
  /** Output folder, one per client and round. */
  folder: string;
  rounds: number;
  bucketOf: (client: string) => string;
  only: string;
  say: (line: string) => void;
}

export interface Timing {
  measure: string;
  /** Client -> median in milliseconds. */
  medians: ReadonlyMap<string, number>;
}

/** Every client performs all operations in each round, with a different client first each time. */
export async function runRounds(options: RoundsOptions): Promise<Timing[]> {
  const taken = new Map<string, Map<string, number[]>>();
  for (let round = 0; round < options.rounds; round += 1) {
    const { clients } = options;
    const order = clients
      .map((_, index) => clients[(index + round) % clients.length])
      .filter((each) => each !== undefined);
    for (const client of order) await runRound(options, client, round, taken);
  }
  return [...taken].map(([measure, byClient]) => ({
    measure,
    medians: new Map([...byClient].map(([client, times]) => [client, median(times)])),
  }));
}

async function runRound(
  { sources, folder, bucketOf, only, say }: RoundsOptions,
  client: ObjectClient,
  round: number,
  taken: Map<string, Map<string, number[]>>,
): Promise<void> {
  for (const measure of MEASURES) {
    const target = join(folder, `${client.name}-${round}-${MEASURES.indexOf(measure)}`);
    await mkdir(target);
    const at = { sources, place: `${bucketOf(client.name)}/round-${round}`, target };
    await runProgram('sync', []); // flush the writes of others before this one begins
    const timeMs = await timeOf(measure.call(client, at));
    await measure.check(at);
    if (!measure.name.includes(only)) continue; // performed anyway, since others need its output
    say(`round ${round + 1}: ${measure.name}: ${client.name} ${timeMs.toFixed(0)} ms`);
    const byClient = taken.get(measure.name) ?? new Map<string, number[]>();
    byClient.set(client.name, [...(byClient.get(client.name) ?? []), timeMs]);
    taken.set(measure.name, byClient);
  }
}

async function timeOf({ program, args, environment }: ClientCall): Promise<number> {
  const startedAt = performance.now();
  await runProgram(program, args, { environment });
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  const ordered = values.toSorted((left, right) => left - right);
  const middle = Math.floor(ordered.length / 2);
  const [low = 0, high = 0] = [ordered[Math.ceil(ordered.length / 2) - 1], ordered[middle]];
  return (low + high) / 2;
}
