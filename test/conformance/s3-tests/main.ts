import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { updateKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { writeResultPage } from '../result-page.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runS3Tests } from './run.ts';

/**
 * Manual use: `main.ts` runs all tests, updates the list of known failures and writes the documentation page; `main.ts
 * --only PATTERN` runs some and writes neither. `--out FOLDER` keeps the output of pytest and the platform.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string' },
    workers: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '30' },
  },
});
const pattern = values.only === undefined ? {} : { pattern: values.only };
const timeoutMs = Number(values.minutes) * 60_000;
const run = await runS3Tests({ ...pattern, workers: Number(values.workers), timeoutMs });
if (values.out !== undefined) {
  await mkdir(values.out, { recursive: true });
  await writeFile(join(values.out, 'phases.json'), JSON.stringify(run.phases, null, 1));
  await writeFile(join(values.out, 'platform.log'), run.log);
}
if (values.only === undefined) {
  const known = await updateKnownFailures(KNOWN_FAILURES, run.outcomes);
  await writeResultPage(PAGE, resultPage(run, known));
}
for (const { name, status, reason } of run.outcomes)
  if (status !== 'passed') console.log(`${status} ${name}: ${reason}`);
const counts = (['passed', 'failed', 'skipped'] as const).map((status) => `${countOf(run.outcomes, status)} ${status}`);
console.log(`${counts.join(', ')} in ${Math.round(run.durationMs / 1000)} s`);
