import { execFile } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { runCommand } from '../../kubernetes/commands.ts';
import { removeLeftovers } from './leftovers.ts';
import type { Outcome } from '../outcome.ts';
import { outcomeOf } from './outcome.ts';

export interface Target {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** A platform that was started for the suite. */
export interface OpenTarget {
  readonly target: Target;
  close(): Promise<void>;
}

/** Tests of what we have no counterpart of: the gateway's own IAM service and its endpoint for web sites. */
const FOREIGN = /^(IAM|S3IAM|WebsiteHosting)/;

/** A test that hangs ends here; its own requests give up after 10 to 30 seconds. */
const TEST_TIMEOUT_MS = 40_000;

/** Names of all tests of the program in their order, and how many of them are about a service that is not S3. */
export async function listTests(program: string): Promise<{ names: string[]; foreignCount: number }> {
  const { stdout } = await runCommand(program, ['test', '--help']);
  const all = [...stdout.matchAll(/^\s+(\S+)\s+Runs \S+ integration test$/gm)]
    .map((match) => match[1] ?? '')
    .toSorted();
  const names = all.filter((name) => !FOREIGN.test(name));
  return { names, foreignCount: all.length - names.length };
}

/**
 * Runs tests one after the other, since each counts its buckets from the same number, each in a process of its own: the
 * whole suite in one process ends with the first test that dereferences an answer it did not expect. What has not
 * begun when the time is up counts as failed.
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

/** False when a bucket stays, for one because a failed test locked an object in it. */
async function isCleaned(target: Target): Promise<boolean> {
  return removeLeftovers(target).then(
    () => true,
    () => false,
  );
}

function runTest(program: string, target: Target, name: string, signal: AbortSignal): Promise<Outcome> {
  // The key is in the environment: a command line can be read by everybody on the machine.
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    AWS_ACCESS_KEY_ID: target.accessKeyId,
    AWS_SECRET_ACCESS_KEY: target.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  // Our store keeps versions: without this, tests clean up after themselves as if it did not.
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
