import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '@svc/testing';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { runInGroup } from './process-group.ts';

const SOURCE = 'native/sandbox-agent';
const TIMEOUT_MS = 10 * 60_000;
const FUZZ_INPUTS = '2000x';
/** Every `func Fuzz…` of the helper; a test verifies the list. */
export const FUZZ_TARGETS: readonly (readonly [target: string, folder: string])[] = [
  ['FuzzDispatch', 'agent'],
  ['FuzzExtract', 'agent'],
  ['FuzzRead', 'frame'],
  ['FuzzPlan', 'host'],
  ['FuzzProcessStatus', 'host'],
  ['FuzzCompile', 'seccomp'],
  ['FuzzLayer', 'unpack'],
];

/** The sandbox helper: its own tests, and the check that the committed binaries match the committed source. */
export const helperPart: Part = {
  name: 'helper',
  description:
    'go vet, go test, a few thousand inputs for each fuzz target, and a rebuild of the helper that gives the committed bytes',
  group: 'default',
  timeoutMs: TIMEOUT_MS,
  needsGo: true,
  impossible: ({ environment }) => {
    const found = findCommand('go', environment['PATH']);
    return found === null ? 'needs Go; install it with: apt-get install -y golang-go' : null;
  },
  run: runHelper,
};

async function runHelper(context: PartContext): Promise<PartOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-helper-'));
  try {
    const steps = [
      { name: 'go vet finds nothing', command: 'go', args: ['vet', './...'] },
      { name: 'go test passes', command: 'go', args: ['test', './...'] },
      ...FUZZ_TARGETS.map(([target, folder]) => fuzzStep(target, folder)),
      { name: 'the source builds', command: './build', args: [folder] },
    ];
    const results: TestResult[] = [];
    const outputs: string[] = [];
    for (const [index, step] of steps.entries()) {
      const logFile = join(context.outFolder, `helper-${index + 1}.log`);
      context.progress(step.name);
      const { exitCode } = await runInGroup({
        command: step.command,
        args: step.args,
        cwd: join(context.root, SOURCE),
        environment: { ...context.environment, GOTOOLCHAIN: 'local', GOFLAGS: '' },
        timeoutMs: TIMEOUT_MS,
        signal: context.signal,
        logFile,
      });
      results.push(check(step.name, exitCode === 0, `exit code ${exitCode}`));
      if (exitCode !== 0) outputs.push(readFileSync(logFile, 'utf8'));
    }
    results.push(compareSums(join(context.root, SOURCE, 'bin'), folder));
    return { results, output: outputs.join('\n') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Limits the number of inputs instead of the time, so that a slow machine tries as many. Without its own limit,
 * minimizing an interesting input takes a minute each.
 */
function fuzzStep(target: string, folder: string) {
  const args = ['test', '-run', '^$', '-fuzz', `^${target}$`, '-fuzztime', FUZZ_INPUTS, '-fuzzminimizetime', '10x'];
  return { name: `${target} finds nothing`, command: 'go', args: [...args, '-parallel', '1', `./internal/${folder}`] };
}

/** Compares the committed list and the committed bytes with the rebuilt list. */
function compareSums(committed: string, rebuilt: string): TestResult {
  const expected = readOrEmpty(join(rebuilt, 'SHA256SUMS'));
  const listed = readOrEmpty(join(committed, 'SHA256SUMS'));
  const actual = expected
    .split('\n')
    .map((line) => line.split('  ')[1] ?? '')
    .filter((name) => name !== '')
    .map((name) => `${hash('sha256', readFileSync(join(committed, name)))}  ${name}\n`)
    .join('');
  const passed = expected !== '' && expected === listed && expected === actual;
  return check(
    'the rebuilt binaries are the committed ones',
    passed,
    `rebuilt:\n${expected}listed:\n${listed}committed:\n${actual}`,
  );
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the build that should have written it failed and is reported
  }
}

function check(name: string, passed: boolean, message: string): TestResult {
  return { file: 'helper', name, status: passed ? 'passed' : 'failed', message: passed ? '' : message };
}
