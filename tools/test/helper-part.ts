import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildAndRecord } from '@svc/helper-binary';
import { findCommand } from '@svc/testing';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { runInGroup } from './process-group.ts';

const SOURCE = 'native/sandbox-agent';
const MOUNT_SOURCE = 'native/bucket-mount';
const RECORD = 'node tools/helper/main.ts';
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
  ['FuzzPacket', 'sftp'],
  ['FuzzLayer', 'unpack'],
];

/** Every `func Fuzz…` of the bucket mount; a test verifies the list. */
export const MOUNT_FUZZ_TARGETS: readonly string[] = [
  'FuzzAnswers',
  'FuzzAttributes',
  'FuzzFiles',
  'FuzzNames',
  'FuzzRanges',
  'FuzzReplaced',
];

/** The sandbox helper: its own tests, and the check that the source gives the recorded checksums. */
export const helperPart: Part = {
  name: 'helper',
  description:
    'go vet, go test, a few thousand inputs for each fuzz target, and a build of the helper that gives the recorded checksums',
  group: 'default',
  timeoutMs: TIMEOUT_MS,
  needsGo: true,
  sharesMachine: true,
  impossible: ({ environment }) => {
    const found = findCommand('go', environment['PATH']);
    return found === null ? 'needs Go; install it with: apt-get install -y golang-go' : null;
  },
  run: runHelper,
};

interface HelperStep {
  readonly name: string;
  readonly args: readonly string[];
  /** Folder of the program; defaults to that of the helper. */
  readonly source?: string;
}

async function runHelper(context: PartContext): Promise<PartOutcome> {
  const steps: readonly HelperStep[] = [
    { name: 'go vet finds nothing', args: ['vet', './...'] },
    { name: 'go test passes', args: ['test', './...'] },
    { name: 'the modules are those of go.sum', args: ['mod', 'verify'] },
    ...FUZZ_TARGETS.map(([target, folder]) => fuzzStep(target, `./internal/${folder}`)),
    { name: 'go vet finds nothing in the bucket mount', args: ['vet', './...'], source: MOUNT_SOURCE },
    { name: 'go test passes for the bucket mount', args: ['test', './...'], source: MOUNT_SOURCE },
    ...MOUNT_FUZZ_TARGETS.map((target) => ({ ...fuzzStep(target, '.'), source: MOUNT_SOURCE })),
    { name: 'the modules of the bucket mount are those of go.sum', args: ['mod', 'verify'], source: MOUNT_SOURCE },
  ];
  const results: TestResult[] = [];
  const outputs: string[] = [];
  for (const [index, step] of steps.entries()) {
    const logFile = join(context.outFolder, `helper-${index + 1}.log`);
    context.progress(step.name);
    const { exitCode } = await runInGroup({
      command: 'go',
      args: step.args,
      cwd: join(context.root, step.source ?? SOURCE),
      environment: { ...context.environment, GOTOOLCHAIN: 'local', GOFLAGS: '' },
      timeoutMs: TIMEOUT_MS,
      signal: context.signal,
      logFile,
    });
    results.push(check(step.name, exitCode === 0, `exit code ${exitCode}`));
    if (exitCode !== 0) outputs.push(readFileSync(logFile, 'utf8'));
  }
  results.push(await compareChecksums(context, 'sandbox-agent'), await compareChecksums(context, 'bucket-mount'));
  return { results, output: outputs.join('\n') };
}

/**
 * Limits the number of inputs instead of the time, so that a slow machine tries as many. Without its own limit,
 * minimizing an interesting input takes a minute each.
 */
function fuzzStep(target: string, folder: string): HelperStep {
  const args = ['test', '-run', '^$', '-fuzz', `^${target}$`, '-fuzztime', FUZZ_INPUTS, '-fuzzminimizetime', '10x'];
  return { name: `${target} finds nothing`, args: [...args, '-parallel', '1', folder] };
}

/** Builds every binary and compares the checksums with the recorded ones. */
async function compareChecksums(
  { root, environment, progress }: PartContext,
  program: 'sandbox-agent' | 'bucket-mount',
): Promise<TestResult> {
  const name = `a build of native/${program} gives the recorded checksums`;
  try {
    const built = await buildAndRecord({ root, environment, progress, write: false, program });
    const recorded = readFileSync(join(root, 'native', program, 'SHA256SUMS'), 'utf8');
    return check(name, built === recorded, `built:\n${built}recorded:\n${recorded}to record it: ${RECORD}`);
  } catch (error) {
    return check(name, false, error instanceof Error ? error.message : String(error));
  }
}

function check(name: string, passed: boolean, message: string): TestResult {
  return { file: 'helper', name, status: passed ? 'passed' : 'failed', message: passed ? '' : message };
}
