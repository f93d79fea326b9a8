import { addExpectedPasses, writeTable } from './records.ts';
import { runVersitygwSuite } from './run.ts';

/** By hand: runs the suite, writes the table of the documentation and adds what passes now to the expected passes. */
const run = await runVersitygwSuite();
await writeTable(run);
const passed = run.outcomes.filter((each) => each.status === 'passed').length;
const added = await addExpectedPasses(run.outcomes);
console.log(
  `${passed} of ${run.outcomes.length} passed in ${Math.round(run.durationMs / 1000)} s; ${added} new expected passes`,
);
