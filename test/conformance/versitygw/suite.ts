import { execFile } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { runCommand } from '../../kubernetes/commands.ts';
import { removeLeftovers, type Target } from './leftovers.ts';
import type { Outcome } from '../outcome.ts';
import { outcomeOf } from './outcome.ts';

/** A platform started for the suite. */
export interface OpenTarget {
  readonly target: Target;
  close(): Promise<void>;
}

/** Tests of features that we don't have: the gateway's own IAM service and its website endpoint. */
const FOREIGN = /^(IAM|S3IAM|WebsiteHosting)/;

/** Time limit of a hanging test; its own requests give up after 10 to 30 seconds. */
const TEST_TIMEOUT_MS = 40_000;

/** Names of all tests in order, and the number of those about services other than S3. */
export async function listTests(program: string): Promise<{ names: string[]; foreignCount: number }> {
  const { stdout } = await runCommand(program, ['test', '--help']);
  const all = [...stdout.matchAll(/^\s+(\S+)\s+Runs \S+ integration test$/gm)]
    .map((match) => match[1] ?? '')
    .toSorted();
  const names = all.filter((name) => !FOREIGN.test(name));
  return { names, foreignCount: all.length - names.length };
}

/**
 * Runs tests sequentially, since each numbers its buckets from the same start, and each in its own process: a single
 * process would end with the first test that dereferences an unexpected response. Tests not started in time count as
 * failed.
 */
export async function runTests(
  program: string,
  open: () => Promise<OpenTarget>,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let current = await open();
  try {
    for (const name of names) {
      if (signal.aborted) {
        outcomes.push({ name, status: 'failed', reason: 'not run: the time of the suite was up' });
        continue;
      }
      const outcome = await runTest(program, current.target, name, signal);
      outcomes.push(outcome);
      if (outcome.status === 'passed' || (await isCleaned(current.target))) continue;
      await current.close();
      current = await open();
    }
  } finally {
    await current.close();
  }
  return outcomes;
}

/** False if a bucket remains, such as one with an object locked by a failed test. */
async function isCleaned(target: Target): Promise<boolean> {
  return removeLeftovers(target).then(
    () => true,
    () => false,
  );
}

function runTest(program: string, target: Target, name: string, signal: AbortSignal): Promise<Outcome> {
  // The key is passed in the environment: command lines are visible to every user of the machine.
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    AWS_ACCESS_KEY_ID: target.accessKeyId,
    AWS_SECRET_ACCESS_KEY: target.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  // Our store keeps versions; without this flag, tests would clean up as if it did not.
  const args = ['--region', target.region, 'test', '--endpoint', target.endpoint, name, '--versioning-enabled'];
  const limits = { timeout: TEST_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024, signal } as const;
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...limits, env }, (error, stdout, stderr) => {
      const output = stripVTControlCharacters(`${stdout}\n${stderr}`);
      const hung = error !== null && error.killed === true;
      resolve(
        hung ? { name, status: 'failed', reason: 'did not end in time' } : outcomeOf(name, output, error === null),
      );
    });
    child.stdin?.end();
  });
}
