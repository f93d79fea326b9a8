import { relative } from 'node:path';
import type { TestResult } from './part.ts';

/** The used subset of vitest's JSON report. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

const SKIP_REASON = /\s*\[skipped: ([^\]]+)\]/;

/**
 * Returns every test of a run. A file that fails to load is one failed result, so that its unknown tests don't vanish
 * from the count.
 */
export function readVitestReport(text: string, root: string): TestResult[] {
  const report = JSON.parse(text) as VitestReport; // written by the vitest run above
  return report.testResults.flatMap((file) => {
    const path = relative(root, file.name);
    const tests = file.assertionResults.map((test): TestResult => {
      const titles = [...test.ancestorTitles, test.title];
      const status = test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped';
      const message = status === 'skipped' ? skipReason(titles) : (test.failureMessages ?? []).join('\n');
      return { file: path, name: titles.map((title) => title.replace(SKIP_REASON, '')).join(' > '), status, message };
    });
    const brokenFile = file.status === 'failed' && tests.every((test) => test.status !== 'failed');
    if (!brokenFile) return tests;
    return [...tests, { file: path, name: 'the file itself', status: 'failed', message: file.message ?? 'it failed' }];
  });
}

function skipReason(titles: readonly string[]): string {
  return (
    titles.map((title) => SKIP_REASON.exec(title)?.[1]).find((reason) => reason !== undefined) ?? 'no reason given'
  );
}
