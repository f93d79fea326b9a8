import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { runInGroup } from './process-group.ts';

interface CheckStep {
  readonly name: string;
  /** Path of the program's script below node_modules, then its arguments. */
  readonly script: string;
  readonly args: readonly string[];
}

const MINUTE_MS = 60_000;

/** Checks that read the source without running it. */
export const checkParts: readonly Part[] = [
  checkPart('typecheck', 'TypeScript, strict', [
    { name: 'the project', script: '@typescript/native/bin/tsc', args: ['-p', '.'] },
    { name: 'the console', script: '@typescript/native/bin/tsc', args: ['-p', 'apps/console', '--noEmit'] },
  ]),
  checkPart('lint', 'oxlint with types', [
    { name: 'oxlint', script: 'oxlint/bin/oxlint', args: ['--type-aware', '--deny-warnings'] },
  ]),
  checkPart('format', 'oxfmt', [{ name: 'oxfmt', script: 'oxfmt/bin/oxfmt', args: ['--check'] }]),
  checkPart('dead-code', 'knip: files, exports and dependencies that nothing uses', [
    { name: 'knip', script: 'knip/bin/knip.js', args: ['--no-progress', '--no-config-hints'] },
  ]),
];

function checkPart(name: string, description: string, steps: readonly CheckStep[]): Part {
  const timeoutMs = 5 * MINUTE_MS;
  return {
    name,
    description,
    group: 'default',
    timeoutMs,
    run: (context) => runSteps(context, name, steps, timeoutMs),
  };
}

async function runSteps(
  context: PartContext,
  part: string,
  steps: readonly CheckStep[],
  timeoutMs: number,
): Promise<PartOutcome> {
  const results: TestResult[] = [];
  const outputs: string[] = [];
  for (const [index, step] of steps.entries()) {
    const logFile = join(context.outFolder, steps.length === 1 ? `${part}.log` : `${part}-${index + 1}.log`);
    const { exitCode, timedOut } = await runInGroup({
      command: process.execPath,
      args: [join(context.root, 'node_modules', step.script), ...step.args],
      cwd: context.root,
      environment: context.environment,
      timeoutMs,
      signal: context.signal,
      logFile,
    });
    const ended = timedOut ? `was ended after ${timeoutMs / MINUTE_MS} minutes` : `exit code ${exitCode}`;
    const status = exitCode === 0 ? 'passed' : 'failed';
    results.push({ file: part, name: step.name, status, message: status === 'passed' ? '' : ended });
    if (status === 'failed') outputs.push(readFileSync(logFile, 'utf8'));
  }
  return { results, output: outputs.join('\n') };
}
