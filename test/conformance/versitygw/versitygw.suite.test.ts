import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { compare, readKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { isCurrent } from '../result-page.ts';
import { outcomeOf } from './outcome.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runVersitygwSuite } from './run.ts';

describeRequiring(['linux', 'go'], "VersityGW's client-side suite", () => {
  it('has no failures other than the known ones, and the result page is up to date', async () => {
    const known = await readKnownFailures(KNOWN_FAILURES);
    const run = await runVersitygwSuite();
    const seconds = Math.round(run.durationMs / 1000);
    const passed = countOf(run.outcomes, 'passed');
    console.log(`figure: VersityGW's suite: ${passed} of ${run.outcomes.length} tests pass, in ${seconds} s`);
    const { unknown, stale } = compare(known, run.outcomes);
    expect(unknown.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(stale, 'pass now; run: node test/conformance/versitygw/main.ts').toEqual([]);
    expect(await isCurrent(PAGE, resultPage(run, known)), 'the page is stale').toBe(true);
  });

  it('counts a test as passed only if it says so and prints nothing else', () => {
    expect(outcomeOf('A', 'RUN  A\nPASS A', true)).toMatchObject({ status: 'passed' });
    expect(outcomeOf('A', 'RUN  A\nFAIL A: no\nPASS A', true)).toMatchObject({ status: 'failed', reason: 'no' });
    expect(outcomeOf('A', 'RUN  A\npanic: nil', false)).toMatchObject({ status: 'failed' });
    expect(outcomeOf('A', 'RUN  A\nPASS A', false)).toMatchObject({ status: 'failed' });
    expect(outcomeOf('A', 'SKIP A', true)).toMatchObject({ status: 'skipped' });
  });
});
