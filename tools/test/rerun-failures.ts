import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { testKey } from './skip-rules.ts';

/** With more failed files than this, the part is broken, and a second run would only take time. */
const MAX_FILES = 4;

/**
 * Reruns failed files once, alone. Tests that then pass count as passed, and the summary lists them as flaky with their
 * first failure: real clusters, engines and browsers on a shared machine sometimes fail regardless of the change. A
 * second failure is final. Checks and helper builds are deterministic, so they are not rerun.
 */
export async function rerunFailures(part: Part, context: PartContext, first: PartOutcome): Promise<PartOutcome> {
  const failed = first.results.filter((result) => result.status === 'failed');
  const files = [...new Set(failed.map((result) => result.file))];
  const known = new Set(part.files?.() ?? []);
  const hopeless = files.length > MAX_FILES || files.some((file) => !known.has(file));
  if (files.length === 0 || hopeless || context.signal.aborted) return first;
  keepFirstReport(part.name, context.outFolder);
  context.progress(`again, alone: ${files.join(', ')}`);
  const second = await part.run({ ...context, filter: { ...context.filter, files } });
  const reasons = new Map(failed.map((result) => [testKey(result), result.message]));
  return {
    results: [
      ...first.results.filter((result) => !files.includes(result.file)),
      ...second.results.map((result) => withReason(result, reasons)),
    ],
    output: [first.output, second.output].filter((output) => output !== '').join('\n'),
  };
}

function withReason(result: TestResult, reasons: ReadonlyMap<string, string>): TestResult {
  const failedOf = reasons.get(testKey(result));
  return result.status === 'passed' && failedOf !== undefined ? { ...result, failedFirstOf: failedOf } : result;
}

function keepFirstReport(part: string, outFolder: string): void {
  for (const kind of ['log', 'json']) {
    const file = join(outFolder, `${part}.${kind}`);
    if (existsSync(file)) renameSync(file, join(outFolder, `${part}-first.${kind}`));
  }
}
