import { updateKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { writeResultPage } from '../result-page.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runVersitygwSuite } from './run.ts';

/** By hand: runs the suite, brings the list of known failures up to date and writes the page of the documentation. */
const run = await runVersitygwSuite();
const known = await updateKnownFailures(KNOWN_FAILURES, run.outcomes);
await writeResultPage(PAGE, resultPage(run, known));
const counts = (['passed', 'failed', 'skipped'] as const).map((status) => `${countOf(run.outcomes, status)} ${status}`);
console.log(`${counts.join(', ')} in ${Math.round(run.durationMs / 1000)} s`);
