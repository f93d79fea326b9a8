import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '@svc/testing';
import { answeredTotal, campaignState } from './campaign-state.ts';
import { runRound, withServer } from './rounds.ts';

/** Run by hand: `node modules/object-store/test/crash/main.ts --rounds 1000 [--seed N] [--log FILE]`. */
const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seed: { type: 'string' }, log: { type: 'string' } },
});
const rounds = Number(values.rounds ?? '1000');
const seed = Number(values.seed ?? '20260101');
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
  if (values.log !== undefined) appendFileSync(values.log, `${line}\n`);
};

await using folder = await temporaryFolder();
const state = campaignState(seed);
const startedAt = performance.now();
for (let round = 0; round < rounds; round += 1) {
  const findings = await runRound({ folder: folder.path, state, seed, round });
  if (findings.length > 0) {
    say(`round ${round}, seed ${seed}: ${findings.length} wrong\n${findings.join('\n')}\nkept in ${folder.path}`);
    process.exit(1);
  }
  if (round % 25 === 24) say(summary(round + 1));
}
const last = await withServer(folder.path, (reader) => reader.audit(state));
say(last.length === 0 ? `clean: ${summary(rounds)}` : `after the last kill: ${last.join('\n')}`);
process.exitCode = last.length === 0 ? 0 : 1;

function summary(kills: number): string {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const each = [...state.answered].map(([name, count]) => `${name} ${count}`).join(', ');
  return `${kills} kills in ${seconds} s, ${answeredTotal(state)} operations answered (${each}), ${state.cut} cut off, ${state.expired} expired, 0 wrong`;
}
