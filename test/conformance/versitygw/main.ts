import { parseArgs } from 'node:util';
import { updateKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { writeResultPage } from '../result-page.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runVersitygwSuite } from './run.ts';

/**
 * Manual use: runs the suite, updates the list of known failures and writes the documentation page; `--only PATTERN`
 * runs the tests whose names match, prints failures and writes neither.
 */
const { values } = parseArgs({ options: { only: { type: 'string' } } });
const run = await runVersitygwSuite(values.only === undefined ? undefined : new RegExp(values.only));
if (values.only === undefined) {
  const known = await updateKnownFailures(KNOWN_FAILURES, run.outcomes);
  await writeResultPage(PAGE, resultPage(run, known));
} else {
  for (const { name, status, reason } of run.outcomes) {
    if (status !== 'passed') console.log(`${status} ${name}: ${reason}`);
  }
}
const counts = (['passed', 'failed', 'skipped'] as const).map((status) => `${countOf(run.outcomes, status)} ${status}`);
console.log(`${counts.join(', ')} in ${Math.round(run.durationMs / 1000)} s`);
