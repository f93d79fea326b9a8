import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { clearTraces, runOnOwnGround } from '../sandbox-kills/ground.ts';
import { startPlatform } from '../system/running-platform.ts';
import { Campaign } from './campaign.ts';
import { proveControls } from './controls.ts';
import { complaintsOf } from './world.ts';

export interface Wanted {
  readonly faults: number;
  /** Minutes of load without faults, before the faults. */
  readonly minutes: number;
  readonly seed: number;
  readonly controls: boolean;
  readonly folder: string;
  readonly say: (line: string) => void;
}

const FAULTS_IN_ROUND = 6;
const MOST_OF_A_LINE = 700;
const COMPLAINTS = 25;
/** Time of the load before the controls. */
const LOAD_MS = 5_000;

/** Runs the campaign in its own namespaces and leaves nothing behind. Returns its exit code. */
export async function runOutside(wanted: Wanted & { readonly stop: AbortSignal }): Promise<number> {
  const { folder, say, stop } = wanted;
  // Installs missing programs while there is a network.
  await using first = await startPlatform({ dataFolder: join(folder, 'prepared') });
  await first.stop();
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const flags = ['--inside', folder, '--faults', String(wanted.faults), '--seed', String(wanted.seed)];
  flags.push('--minutes', String(wanted.minutes));
  const argv = [process.execPath, main, ...flags, ...(wanted.controls ? ['--controls'] : [])];
  const exitCode = await runOnOwnGround({
    folder,
    argv,
    onLine: say,
    onComplaint: (text) => say(text.trimEnd()),
    stop,
  });
  for (const runFolder of runFoldersOf(folder)) clearTraces(runFolder); // the disks of its sandboxes are gone
  return exitCode ?? 1;
}

/** Runs the campaign inside its namespaces. Returns the exit code. */
export async function runInside({ folder, seed, controls, say, ...wanted }: Wanted): Promise<number> {
  const stop = new AbortController();
  // The parent signals the end by closing our input, even when it is killed.
  process.stdin.once('end', () => stop.abort()).resume();
  // faketime leaves files of killed processes there.
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', '/dev/shm']);
  await using campaign = await Campaign.open({ folder, seed });
  writeFileSync(runFoldersFile(folder), campaign.world.replicas.map(({ runFolder }) => runFolder).join('\n'));
  const work = runRounds(campaign, wanted, say, stop.signal).then((wrong) =>
    wrong.length > 0 || !controls ? wrong : prove(campaign, say),
  );
  const findings = await work.catch((error: unknown) => [`it broke: ${inspect(error)}`]); // it did not recover
  if (findings.length === 0) {
    say(`clean: ${summary(campaign)}`);
    return 0;
  }
  say(`seed ${seed}: ${findings.length} wrong after ${summary(campaign)}`);
  for (const finding of findings) say(`  ${finding.slice(0, MOST_OF_A_LINE)}`);
  say(`what happened last:\n${campaign.journal.events.join('\n')}`);
  for (const replica of campaign.world.replicas) {
    const last = complaintsOf(replica).slice(-COMPLAINTS);
    say(
      `${replica.name} (${replica.nodeId}) said last:\n${last.map((line) => line.slice(0, MOST_OF_A_LINE)).join('\n')}`,
    );
  }
  return 1;
}

async function prove(campaign: Campaign, say: (line: string) => void): Promise<string[]> {
  const findings = await campaign.rest(LOAD_MS);
  return findings.length > 0 ? findings : proveControls(campaign, say);
}

async function runRounds(
  campaign: Campaign,
  { minutes, faults }: Pick<Wanted, 'minutes' | 'faults'>,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<string[]> {
  const startedAt = performance.now();
  const plan = campaign.plan(faults);
  let minutesLeft = minutes;
  while ((minutesLeft > 0 || plan.length > 0) && !stop.aborted) {
    const findings =
      minutesLeft > 0 ? await campaign.rest(60_000) : await campaign.round(plan.splice(0, FAULTS_IN_ROUND), stop);
    minutesLeft -= 1;
    if (findings.length > 0) return findings;
    say(`${summary(campaign)}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  return [];
}

function summary({ faults, inflicted, journal, world, agent }: Campaign): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const sorted = agent.takeovers.map(({ tookMs }) => tookMs).toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const takeovers = `agent taken over ${sorted.length} times, median ${median} ms, longest ${sorted.at(-1) ?? 0} ms`;
  return `${faults} faults (${list(inflicted)}); ${list(journal.counts)}; starts repeated ${world.repeatedStarts}; ${takeovers}`;
}

function runFoldersFile(folder: string): string {
  return join(folder, 'run-folders');
}

function runFoldersOf(folder: string): string[] {
  const file = runFoldersFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}
