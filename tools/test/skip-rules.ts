import type { TestResult } from './part.ts';

/** What no registry can give a machine. Everything else can be installed, so in CI its absence is a failure. */
const NOT_TO_BE_HAD: readonly RegExp[] = [
  /^needs \/dev\/(kvm|fuse)/,
  /^needs the command runsc/,
  /^needs a checkout of/,
  /^needs a registry that answers npm audit/,
  /^needs the Go vulnerability database/,
];

/** Tests that one part skips because another part runs them under the conditions they need. */
const RUN_ELSEWHERE: readonly { readonly reason: RegExp; readonly part: string }[] = [
  { reason: /^SVC_TEST_POSTGRES_URL is not set/, part: 'postgres' },
];

/**
 * A skip is allowed when nothing could have been done about it, when the same test passed in another part of this run,
 * or when the part that runs it was not asked for.
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
