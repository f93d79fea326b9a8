import { requirement, skippedTitle } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { compare, readKnownFailures } from '../known-failures.ts';
import { countOf } from '../outcome.ts';
import { isCurrent } from '../result-page.ts';
import { missingCheckout } from './checkout.ts';
import { KNOWN_FAILURES, PAGE, resultPage } from './records.ts';
import { runE2bSuites } from './run.ts';

const missing =
  requirement('root', 'linux', 'python-venv', 'command:unshare', 'command:nsenter', 'command:ip') ?? missingCheckout();
const title = missing === null ? 'the suites of the E2B SDKs' : skippedTitle('the suites of the E2B SDKs', missing);

describe.skipIf(missing !== null)(title, () => {
  it('have no failures other than the known ones, and the result page is up to date', async () => {
    const known = await readKnownFailures(KNOWN_FAILURES);
    const run = await runE2bSuites();
    const seconds = Math.round(run.durationMs / 1000);
    const passed = countOf(run.outcomes, 'passed');
    console.log(`figure: E2B SDKs: ${passed} of ${run.outcomes.length} tests pass, in ${seconds} s`);
    const { unknown, stale } = compare(known, run.outcomes);
    expect(unknown.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(stale, 'pass now; run: node test/conformance/e2b/main.ts').toEqual([]);
    expect(await isCurrent(PAGE, resultPage(run, known)), 'the page is stale').toBe(true);
  });
});
