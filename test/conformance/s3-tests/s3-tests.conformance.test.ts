import { requirement, skippedTitle } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { compare, readKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { isCurrent } from '../result-page.ts';
import { missingCheckout } from './checkout.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runS3Tests } from './run.ts';

const missing = requirement('linux', 'python-venv') ?? missingCheckout();
const title = missing === null ? 'ceph/s3-tests' : skippedTitle('ceph/s3-tests', missing);

describe.skipIf(missing !== null)(title, () => {
  it('has no failures other than the known ones, and the result page is up to date', async () => {
    const known = await readKnownFailures(KNOWN_FAILURES);
    const run = await runS3Tests();
    const seconds = Math.round(run.durationMs / 1000);
    const passed = countOf(run.outcomes, 'passed');
    console.log(`figure: ceph/s3-tests: ${passed} of ${run.outcomes.length} tests pass, in ${seconds} s`);
    const { unknown, stale } = compare(known, run.outcomes);
    expect(unknown.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(stale, 'pass now; run: node test/conformance/s3-tests/main.ts').toEqual([]);
    expect(await isCurrent(PAGE, resultPage(run, known)), 'the page is stale').toBe(true);
  });
});
