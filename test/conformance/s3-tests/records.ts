import type { KnownFailures } from '../known-failures.ts';
import type { ResultPage } from '../result-page.ts';
import { S3_TESTS_COMMIT } from './checkout.ts';
import type { SuiteRun } from './run.ts';
import { MARKERS } from './selection.ts';

export const KNOWN_FAILURES = new URL('known-failures.txt', import.meta.url);
export const PAGE = new URL('../../../docs/conformance-s3-tests.md', import.meta.url);

export function resultPage(run: Pick<SuiteRun, 'outcomes'>, known: KnownFailures): ResultPage {
  return {
    title: 'Conformance: ceph/s3-tests',
    introduction: [
      'Check which tests of ceph/s3-tests pass against svc: `./svc test conformance` runs them. This page is written by `node test/conformance/s3-tests/main.ts` from a run against `svc up`, with the reasons in `test/conformance/s3-tests/known-failures.txt`.',
      `Suite: \`s3tests/functional/test_s3.py\` of ceph/s3-tests, unmodified, at commit \`${S3_TESTS_COMMIT}\`. Selected: \`-m '${MARKERS}'\`.`,
    ],
    outcomes: run.outcomes,
    known,
  };
}
