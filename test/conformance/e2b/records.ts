import type { KnownFailures } from '../known-failures.ts';
import { countOf, type Outcome } from '../outcome.ts';
import type { ResultPage } from '../result-page.ts';
import { E2B_COMMIT } from './checkout.ts';
import type { SuiteRun } from './run.ts';

export const KNOWN_FAILURES = new URL('known-failures.txt', import.meta.url);
export const PAGE = new URL('../../../docs/conformance-e2b.md', import.meta.url);

/** Begins the reason of a test that no other server than E2B's own could pass, or that needs the internet. */
const NOT_APPLICABLE = 'Not applicable: ';
/** Begins the reason of a test of a part that the platform does not have yet. */
const NOT_BUILT = 'Not built yet: ';

export function resultPage(run: Pick<SuiteRun, 'outcomes' | 'clientOnly'>, known: KnownFailures): ResultPage {
  const { outcomes, clientOnly } = run;
  const withReason = (beginning: string): number =>
    [...known].reduce((sum, [reason, names]) => (reason.startsWith(beginning) ? sum + names.length : sum), 0);
  const [notApplicable, notBuilt] = [withReason(NOT_APPLICABLE), withReason(NOT_BUILT)];
  const passed = countOf(outcomes, 'passed');
  const share = (of: number): number => Math.floor((passed / Math.max(1, of)) * 1000) / 10;
  const applicable = outcomes.length - notApplicable;
  return {
    title: 'Conformance: E2B SDK test suites',
    introduction: [
      "Check which tests of the E2B SDKs' own suites pass against svc: `./svc test conformance` runs them. This page is written by `node test/conformance/e2b/main.ts` from a run against `svc up`, with the reasons in `test/conformance/e2b/known-failures.txt`.",
      `Suites: \`packages/js-sdk/tests\` and \`packages/python-sdk/tests\` (sync and async) of e2b-dev/E2B, unmodified, at commit \`${E2B_COMMIT}\`.`,
      `Only tests that need a server count; another ${clientOnly} pass without a network. Of the applicable tests, ${share(applicable)} % pass; without tests of features that are not built yet, ${share(applicable - notBuilt)} %.`,
    ],
    outcomes,
    known,
    further: [
      ['not applicable', notApplicable],
      ['not built yet', notBuilt],
    ],
    appendix: listPassed(outcomes),
  };
}

/** Each test that passes, by file. */
function listPassed(outcomes: readonly Outcome[]): string[] {
  const passed = outcomes.filter(({ status }) => status === 'passed');
  const byFile = Map.groupBy(passed, ({ name }) => name.split(/ > |::/, 1)[0] ?? name);
  return [
    '## Tests that pass',
    '',
    ...[...byFile].flatMap(([file, tests]) => [
      `- \`${file}\` (${tests.length}): ${tests.map(({ name }) => name.slice(file.length).replace(/^( > |::)/, '')).join('; ')}`,
    ]),
    '',
  ];
}
