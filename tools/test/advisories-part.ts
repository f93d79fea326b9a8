import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand } from '@svc/testing';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { runInGroup } from './process-group.ts';

/** What is checked, and its folder. */
const PROGRAMS: readonly (readonly [name: string, folder: string])[] = [
  ['the helper', 'native/sandbox-agent'],
  ['the bucket mount', 'native/bucket-mount'],
];
const GOVULNCHECK = 'golang.org/x/vuln/cmd/govulncheck@v1.9.0';
const TIMEOUT_MS = 5 * 60_000;
/**
 * Exit code for vulnerable code that is called; https://pkg.go.dev/golang.org/x/vuln/cmd/govulncheck#hdr-Exit_codes
 */
const FOUND_EXIT_CODE = 3;
/** The registry does not support audits, or is unreachable. */
const NO_AUDITS = /audit endpoint returned an error|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/;
const NO_DATABASE = /vuln\.go\.dev|no such host|connection refused|i\/o timeout|403 Forbidden|fetching vulnerabilities/;

/** Checks dependencies for known vulnerabilities. If the data is unavailable, reports that instead of passing. */
export const advisoriesPart: Part = {
  name: 'advisories',
  description: 'npm audit of the lock, govulncheck of the helper and the bucket mount, where their data can be had',
  group: 'default',
  timeoutMs: 3 * TIMEOUT_MS,
  needsGo: true,
  run: async (context) => {
    const checks = [await auditPackages(context)];
    for (const [program, folder] of PROGRAMS) checks.push(await checkProgram(context, program, folder));
    const failed = checks.filter(({ status }) => status === 'failed');
    return { results: checks, output: failed.map(({ message }) => message).join('\n') } satisfies PartOutcome;
  },
};

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
}

async function auditPackages(context: PartContext): Promise<TestResult> {
  const name = 'npm audit knows no fault of the locked packages';
  const { exitCode, output } = await run(context, 'npm', ['audit', '--package-lock-only'], '.', 'advisories-npm.log');
  if (exitCode === 0) return result(name, 'passed', '');
  if (NO_AUDITS.test(output)) return result(name, 'skipped', 'needs a registry that answers npm audit');
  return result(name, 'failed', output);
}

async function checkProgram(context: PartContext, program: string, folder: string): Promise<TestResult> {
  const name = `govulncheck knows no fault of what ${program} calls`;
  if (findCommand('go', context.environment['PATH']) === null) {
    return result(name, 'skipped', 'needs Go; install it with: apt-get install -y golang-go');
  }
  const database = context.environment['GOVULNDB'];
  const flags = database === undefined ? [] : ['-db', database];
  const args = ['run', GOVULNCHECK, ...flags, './...'];
  const { exitCode, output } = await run(context, 'go', args, folder, 'advisories-go.log');
  if (exitCode === 0) return result(name, 'passed', '');
  // `go run` exits with 1 for any other code and prints it.
  const found = exitCode === FOUND_EXIT_CODE || output.includes(`exit status ${FOUND_EXIT_CODE}`);
  if (!found && NO_DATABASE.test(output)) {
    return result(name, 'skipped', 'needs the Go vulnerability database (vuln.go.dev, or a copy that GOVULNDB names)');
  }
  return result(name, 'failed', output);
}

async function run(
  context: PartContext,
  command: string,
  args: readonly string[],
  folder: string,
  log: string,
): Promise<Ran> {
  const logFile = join(context.outFolder, log);
  context.progress(`${command} ${args.join(' ')}`);
  const { exitCode } = await runInGroup({
    command,
    args,
    cwd: join(context.root, folder),
    environment: { ...context.environment, GOFLAGS: '' },
    timeoutMs: TIMEOUT_MS,
    signal: context.signal,
    logFile,
  });
  return { exitCode, output: readFileSync(logFile, 'utf8') };
}

function result(name: string, status: TestResult['status'], message: string): TestResult {
  return { file: 'advisories', name, status, message };
}
