import type { TestResult } from './part.ts';
import { isAllowedSkip, testKey } from './skip-rules.ts';

export interface FinishedPart {
  readonly name: string;
  readonly results: readonly TestResult[];
  readonly durationMs: number;
  /** Why it did not run, with a command that helps; null if it ran. */
  readonly notRun: string | null;
}

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly lines: readonly string[];
  readonly exitCode: 0 | 1;
}

/**
 * Counts the results and lists every skip with its reason. Strict: a skip or a part that did not run is a failure,
 * unless the requirement cannot be installed.
 */
export function summarize(parts: readonly FinishedPart[], strict: boolean): Summary {
  const results = parts.flatMap((part) => part.results);
  const passedKeys = new Set(results.filter((result) => result.status === 'passed').map(testKey));
  const ranParts = new Set(parts.filter((part) => part.notRun === null).map((part) => part.name));
  const skips = results.filter((result) => result.status === 'skipped' && !passedKeys.has(testKey(result)));
  const refused = strict ? skips.filter((skip) => !isAllowedSkip(skip, passedKeys, ranParts)) : [];
  const skipped = skips.filter((skip) => !refused.includes(skip));
  const missing = parts.filter((part) => part.notRun !== null);
  const broken = results.filter((result) => result.status === 'failed');
  const failed = broken.length + refused.length + (strict ? missing.length : 0);
  const passed = results.filter((result) => result.status === 'passed').length;
  const lines = [
    ...section('unsteady, failed once and passed when run again alone:', unsteady(results)),
    ...section('failed:', broken.map(testKey)),
    ...section('skipped although this run may skip nothing:', byReason(refused)),
    ...section(
      'not run:',
      missing.map((part) => `${part.name}: ${part.notRun ?? ''}`),
    ),
    ...section('skipped:', byReason(skipped)),
    '',
    `${passed} passed, ${failed} failed${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`,
  ];
  return { passed, failed, skipped: skipped.length, lines, exitCode: failed > 0 || passed === 0 ? 1 : 0 };
}

/** One line for a finished part. */
export function describePart(part: FinishedPart): string {
  if (part.notRun !== null) return `${part.name.padEnd(12)} not run: ${part.notRun}`;
  const count = (status: TestResult['status']): number => part.results.filter((each) => each.status === status).length;
  const skipped = count('skipped');
  const counts = `${count('passed')} passed, ${count('failed')} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
  return `${part.name.padEnd(12)} ${counts.padEnd(36)} ${(part.durationMs / 1000).toFixed(1)} s`;
}

function unsteady(results: readonly TestResult[]): string[] {
  return results.flatMap((result) => {
    if (result.failedFirstOf === undefined) return [];
    return [testKey(result), `  ${result.failedFirstOf.split('\n')[0] ?? ''}`];
  });
}

function byReason(skips: readonly TestResult[]): string[] {
  const reasons = new Map<string, TestResult[]>();
  for (const skip of skips) reasons.set(skip.message, [...(reasons.get(skip.message) ?? []), skip]);
  return [...reasons].flatMap(([reason, tests]) => [reason, ...tests.map((test) => `  ${testKey(test)}`)]);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
