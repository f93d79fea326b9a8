import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testing';
import { ensurePython } from '../../clients/python.ts';
import { startPlatform } from '../../system/running-platform.ts';
import type { Outcome } from '../outcome.ts';
import { assertUnmodified, checkoutFolder } from './checkout.ts';
import { LIFECYCLE_DAY_SECONDS, suiteConfiguration } from './configuration.ts';
import { outcomesOf, parseReport, type PhaseReport } from './report.ts';
import { MARKERS, selections } from './selection.ts';
import { MAIN_EMAIL, makeTenants } from './tenants.ts';

export interface SuiteRun {
  readonly outcomes: readonly Outcome[];
  readonly phases: readonly PhaseReport[];
  /** The platform's log. */
  readonly log: string;
  readonly durationMs: number;
}

export interface SuiteOptions {
  /** Only tests whose names match, as in pytest's `-k`. */
  readonly pattern?: string;
  readonly workers?: number;
  /** Time limit of the whole run. */
  readonly timeoutMs?: number;
}

const REQUIREMENTS = new URL('requirements.txt', import.meta.url);
const PLUGIN_FOLDER = fileURLToPath(new URL('plugin/', import.meta.url));
/** Keys that the suite uses if its configuration names none. */
const KMS_KEY_IDS = 'testkey-1,testkey-2';
const MINUTE_MS = 60_000;
/** Lifecycle tests sleep for many ten-second days. */
const TEST_TIMEOUT_SECONDS = 300;

/** Starts a separate platform with three tenants, runs the unmodified suite against it, and stops it. */
export async function runS3Tests(options: SuiteOptions = {}): Promise<SuiteRun> {
  const checkout = checkoutFolder();
  await assertUnmodified(checkout);
  const python = await ensurePython(REQUIREMENTS);
  await using folder = await temporaryFolder();
  await using platform = await startPlatform({
    dataFolder: join(folder.path, 'data'),
    environment: {
      SVC_OWNER_EMAIL: MAIN_EMAIL,
      SVC_LOG_LEVEL: 'warn',
      SVC_OBJECT_STORE_LIFECYCLE_DAY_SECONDS: String(LIFECYCLE_DAY_SECONDS),
      SVC_OBJECT_STORE_KMS_KEY_IDS: KMS_KEY_IDS,
    },
  });
  const configuration = join(folder.path, 's3tests.conf');
  const report = join(folder.path, 'report.jsonl');
  const log = join(folder.path, 'pytest.log');
  const tenants = await makeTenants(platform.ready);
  await writeFile(configuration, suiteConfiguration(platform.ready.s3_endpoint, tenants), { mode: 0o600 });
  await writeFile(report, '');
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30 * MINUTE_MS);
  for (const selection of selections(options.pattern)) {
    const exitCode = await runPytest(python, {
      checkout,
      environment: { S3TEST_CONF: configuration, SVC_S3_TESTS_REPORT: report },
      args: ['-n', String(options.workers ?? 3), '-m', MARKERS, ...selection],
      log,
      signal,
    });
    // 0: all passed, 1: some failed, 5: a pattern selected none
    if (![0, 1, 5].includes(exitCode ?? -1)) {
      throw new Error(`pytest ended with ${exitCode}:\n${(await readFile(log, 'utf8')).slice(-4_000)}`);
    }
  }
  const phases = parseReport(await readFile(report, 'utf8'));
  return { outcomes: outcomesOf(phases), phases, log: platform.log(), durationMs: performance.now() - startedAt };
}

interface PytestRun {
  readonly checkout: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly log: string;
  readonly signal: AbortSignal;
}

async function runPytest(python: string, run: PytestRun): Promise<number | null> {
  const output = openSync(run.log, 'a');
  try {
    const fixed = ['-m', 'pytest', '-q', '--tb=short', '-W', 'ignore', '-p', 'no:cacheprovider', '-p', 'svc_s3_tests'];
    const child = spawn(python, [...fixed, `--timeout=${TEST_TIMEOUT_SECONDS}`, ...run.args], {
      cwd: run.checkout,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PYTHONPATH: PLUGIN_FOLDER,
        PYTHONDONTWRITEBYTECODE: '1',
        AWS_CONFIG_FILE: '/dev/null',
        AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
        AWS_EC2_METADATA_DISABLED: 'true',
        ...run.environment,
      },
      stdio: ['ignore', output, output],
    });
    const end = (): void => void child.kill();
    run.signal.addEventListener('abort', end);
    await once(child, 'close');
    run.signal.removeEventListener('abort', end);
    return child.exitCode;
  } finally {
    closeSync(output);
  }
}
