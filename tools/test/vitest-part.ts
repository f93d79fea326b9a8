import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fuzzTimeMs } from './child-environment.ts';
import type { TestKind } from './kinds.ts';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { runInGroup } from './process-group.ts';
import { packagesNeededBy } from './needed-packages.ts';
import { readVitestReport } from './vitest-report.ts';

/** Prefix of a test's measured number. */
const FIGURE = 'figure: ';

/** Kinds that only read the project. */
const WITHOUT_SANDBOXES: ReadonlySet<string> = new Set(['law', 'openapi']);

export interface VitestRun {
  /** Name of the log and the report. */
  readonly name: string;
  readonly kind: TestKind;
  readonly files?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Node.js arguments before vitest's: a script that starts shared resources, then runs the rest. */
  readonly within?: readonly string[];
}

/** Creates a part from one kind of test files. */
export function vitestPart(kind: TestKind, root: string, more: Partial<Part> = {}): Part {
  const files = (): string[] => filesOf(kind, root);
  return {
    name: kind.name,
    description: kind.description,
    group: kind.group,
    timeoutMs: kind.timeoutMs,
    files,
    packages: () => packagesNeededBy(files(), root),
    needsHelper: !WITHOUT_SANDBOXES.has(kind.name),
    sharesMachine: kind.sequential,
    run: (context) => runVitest(context, { name: kind.name, kind }),
    ...more,
  };
}

export function filesOf(kind: TestKind, root: string): string[] {
  const exclude = ['**/node_modules/**', '**/dist/**', ...(kind.exclude ?? [])];
  return globSync([...kind.include], { cwd: root, exclude }).toSorted();
}

/** Runs vitest in its own process group and reads its report; a run without a report has failed. */
export async function runVitest(context: PartContext, run: VitestRun): Promise<PartOutcome> {
  const report = join(context.outFolder, `${run.name}.json`);
  const logFile = join(context.outFolder, `${run.name}.log`);
  rmSync(report, { force: true });
  const progress = progressReader(context);
  const { exitCode, timedOut } = await runInGroup({
    command: process.execPath,
    args: [...(run.within ?? []), ...vitestArguments(context, run, report)],
    cwd: context.root,
    environment: { ...context.environment, ...run.environment },
    timeoutMs: run.kind.timeoutMs + fuzzTimeMs(context.environment, filesOf(run.kind, context.root)),
    signal: context.signal,
    logFile,
    onLine: progress,
  });
  const all = existsSync(report) ? readVitestReport(readFileSync(report, 'utf8'), context.root) : [];
  const results = all.filter((result) => wasAskedFor(result, context.filter.testName));
  const fault = faultOf(run, exitCode, timedOut, results);
  if (fault !== null) results.push({ file: run.name, name: 'the run itself', status: 'failed', message: fault });
  const failed = results.some((result) => result.status === 'failed');
  return { results, output: failed ? failuresIn(readFileSync(logFile, 'utf8')) : '' };
}

function vitestArguments(context: PartContext, run: VitestRun, report: string): string[] {
  const { testName } = context.filter;
  const files = context.filter.files ?? run.files ?? [];
  return [
    '--disable-warning=ExperimentalWarning',
    join(context.root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project',
    run.kind.name,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...(run.kind.sequential ? ['--no-file-parallelism'] : []),
    ...(testName === undefined ? [] : ['--testNamePattern', escapePattern(testName)]),
    ...files,
  ];
}

/** vitest reports tests excluded by name as skipped; ignore those. */
function wasAskedFor(result: TestResult, testName: string | undefined): boolean {
  return testName === undefined || result.status !== 'skipped' || result.name.replaceAll(' > ', ' ').includes(testName);
}

/** Returns errors other than failed tests. */
function faultOf(
  run: VitestRun,
  exitCode: number | null,
  timedOut: boolean,
  results: readonly TestResult[],
): string | null {
  if (timedOut) return `was ended after ${run.kind.timeoutMs / 60_000} minutes`;
  if (exitCode === 0 || results.some((result) => result.status === 'failed')) return null;
  return exitCode === null ? 'was ended by a signal' : `vitest ended with exit code ${exitCode}; see the log`;
}

/** vitest prints one line per finished file: ` ✓ |unit| packages/x/src/a.test.ts (3 tests) 4ms`. */
function progressReader(context: PartContext): (line: string) => void {
  let files = 0;
  let tests = 0;
  return (line) => {
    if (line.startsWith(FIGURE)) context.figure(line.slice(FIGURE.length));
    const match = /^\s*[✓❯×↓]\s+(?:\|[^|]+\|\s+)?(\S+\.tsx?) \((\d+) tests?/.exec(line);
    if (match === null) return;
    files += 1;
    tests += Number(match[2]);
    context.progress(`${tests} tests in ${files} files, last ${match[1]}`);
  };
}

/** Returns the log from the first failure on: vitest prints failures, with code frames, after the list of files. */
function failuresIn(log: string): string {
  const start = log.search(/⎯⎯ *(?:\S*m)* *(Failed|Unhandled|Startup)/);
  return start === -1 ? log.split('\n').slice(-60).join('\n') : log.slice(log.lastIndexOf('\n', start) + 1);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
