import type { TestResult } from './part.ts';

/** Requirements that cannot be installed. Everything else can, so in CI its absence is a failure. */
const NOT_TO_BE_HAD: readonly RegExp[] = [
  /^needs \/dev\/(kvm|fuse)/,
  /^needs the command runsc/,
  /^needs a checkout of/,
  /^needs the history of the repository/,
  /^needs a registry that answers npm audit/,
  /^needs the Go vulnerability database/,
];

/** Tests skipped by one part because another part runs them under the required conditions. */
const RUN_ELSEWHERE: readonly { readonly reason: RegExp; readonly part: string }[] = [
  { reason: /^SVC_TEST_POSTGRES_URL is not set/, part: 'postgres' },
];

/**
 * A skip is allowed if the requirement cannot be installed, if the same test passed in another part of this run, or if
 * the part that runs it was not selected.
 */
export function isAllowedSkip(
  skip: TestResult,
  passedElsewhere: ReadonlySet<string>,
  partsThatRan: ReadonlySet<string>,
): boolean {
  if (NOT_TO_BE_HAD.some((reason) => reason.test(skip.message))) return true;
  if (passedElsewhere.has(testKey(skip))) return true;
  return RUN_ELSEWHERE.some((rule) => rule.reason.test(skip.message) && !partsThatRan.has(rule.part));
}

export function testKey(result: TestResult): string {
  return `${result.file} > ${result.name}`;
}
