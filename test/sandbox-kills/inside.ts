import { writeFileSync } from 'node:fs';
import { Campaign } from './campaign.ts';
import { proveControls } from './controls.ts';
import { finish } from './finish.ts';
import { furtherImages } from './further-images.ts';
import { configFileOf, dataFolderOf, runFolderFileOf, type Wanted } from './outside.ts';

const TELL_EVERY = 25;
const MOST_OF_A_LINE = 1_500;

/** Runs the campaign inside its namespaces. Returns the exit code. */
export async function runInside(wanted: Wanted): Promise<number> {
  const { folder, seed, say } = wanted;
  const stop = new AbortController();
  // The parent signals the end by closing our input, even when it is killed.
  process.stdin.once('end', () => stop.abort()).resume();
  await using campaign = new Campaign({
    dataFolder: dataFolderOf(folder),
    configFile: configFileOf(folder),
    seed,
    furtherImages: wanted.controls ? [] : furtherImages(wanted.kills),
  });
  await campaign.audited();
  writeFileSync(runFolderFileOf(folder), campaign.runFolder);
  const findings = wanted.controls ? await prove(campaign, say) : await kill(campaign, wanted, stop.signal);
  if (findings.length > 0) {
    say(`seed ${seed}: ${findings.length} wrong after ${summary(campaign)}`);
    for (const finding of findings) say(`  ${finding}`);
    say(`what happened last:\n${campaign.journal.events.join('\n')}`);
    say(`the platform said last:\n${importantOf(campaign.log)}`);
    return 1;
  }
  say(wanted.controls ? 'clean: the controls' : `clean: ${summary(campaign)}`);
  return 0;
}

async function prove(campaign: Campaign, say: (line: string) => void): Promise<string[]> {
  const missed = await proveControls(campaign, say);
  return missed.length > 0 ? missed : finish(campaign);
}

async function kill(campaign: Campaign, { kills, say }: Wanted, stop: AbortSignal): Promise<string[]> {
  const startedAt = performance.now();
  let told = 0;
  while (campaign.killed < kills && !stop.aborted) {
    const findings = await campaign.round(kills - campaign.killed, stop);
    if (findings.length > 0) return findings;
    if (campaign.killed - told < TELL_EVERY) continue;
    told = campaign.killed;
    say(`${summary(campaign)}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  const last = await campaign.audit();
  const findings = last.length > 0 ? last : await finish(campaign);
  if (findings.length === 0) say(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
  return findings;
}

function summary({ kills, killed, journal }: Campaign): string {
  const each = [...kills].map(([victim, count]) => `${victim} ${count}`).join(', ');
  const operations = [...journal.answered].map(([name, count]) => `${name} ${count}`).join(', ');
  const cut = `${journal.open} cut off, ${journal.interruptedBuilds} builds interrupted`;
  return `${killed} kills (${each}), ${journal.answeredTotal} operations answered (${operations}), ${cut}`;
}

/** Log lines other than those of ordinary requests. */
export function importantOf(log: string): string {
  const lines = log.split('\n').filter((line) => !line.includes('"level":"info"'));
  return lines
    .slice(-15)
    .map((line) => line.slice(0, MOST_OF_A_LINE))
    .join('\n');
}
