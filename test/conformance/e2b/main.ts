import { parseArgs } from 'node:util';
import { updateKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { writeResultPage } from '../result-page.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runE2bSuites } from './run.ts';

/**
 * Manual use: `main.ts` runs all tests, updates the list of known failures and writes the documentation page; `main.ts
 * --suite js --only PATTERN` runs some and writes neither. `--out FOLDER` keeps reports and output.
 */
const { values } = parseArgs({
  options: {
    suite: { type: 'string' },
    only: { type: 'string' },
    out: { type: 'string' },
    minutes: { type: 'string', default: '30' },
  },
});
const { suite, only, out } = values;
const run = await runE2bSuites({
  ...(suite === 'js' || suite === 'python' ? { only: suite } : {}),
  ...(only === undefined ? {} : { pattern: only }),
  ...(out === undefined ? {} : { out }),
  timeoutMs: Number(values.minutes) * 60_000,
});
if (only === undefined && suite === undefined) {
  const known = await updateKnownFailures(KNOWN_FAILURES, run.outcomes);
  await writeResultPage(PAGE, resultPage(run, known));
}
for (const { name, status, reason } of run.outcomes)
  if (status !== 'passed') console.log(`${status} ${name}: ${reason}`);
const counts = (['passed', 'failed', 'skipped'] as const).map((status) => `${countOf(run.outcomes, status)} ${status}`);
console.log(`${counts.join(', ')}, ${run.clientOnly} ask no server, in ${Math.round(run.durationMs / 1000)} s`);
