import type { KnownFailures } from '../known-failures.ts';
import type { ResultPage } from '../result-page.ts';
import { VERSITYGW_VERSION } from './program.ts';
import type { SuiteRun } from './run.ts';

export const KNOWN_FAILURES = new URL('known-failures.txt', import.meta.url);
export const PAGE = new URL('../../../docs/conformance-versitygw.md', import.meta.url);

export function resultPage(run: Pick<SuiteRun, 'outcomes' | 'foreignCount'>, known: KnownFailures): ResultPage {
  return {
    title: "Conformance: VersityGW's client-side suite",
    introduction: [
      "Check which tests of VersityGW's client-side suite pass against svc: `./svc test suite` runs them. This page is written by `node test/conformance/versitygw/main.ts` from a run against `svc up`, with the reasons in `test/conformance/versitygw/known-failures.txt`.",
      `Suite: \`versitygw test\` of version ${VERSITYGW_VERSION}, unmodified, with each test in a separate process. Not run: tests of the gateway's own IAM service and of its website endpoint.`,
    ],
    outcomes: run.outcomes,
    known,
    further: [['not run', run.foreignCount]],
  };
}
