import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testing';
import { ensurePython } from '../../clients/python.ts';
import { startPlatform } from '../../system/running-platform.ts';
import type { Outcome } from '../outcome.ts';
import { runPytest } from '../pytest.ts';
import { outcomesOf, type PhaseReport } from '../pytest-report.ts';
import { assertUnmodified, checkoutFolder } from './checkout.ts';
import { LIFECYCLE_DAY_SECONDS, suiteConfiguration } from './configuration.ts';
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
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30 * MINUTE_MS);
  let reports: readonly PhaseReport[] = [];
  for (const selection of selections(options.pattern)) {
    reports = await runPytest({
      command: [python],
      folder: checkout,
      imports: [PLUGIN_FOLDER],
      environment: {
        S3TEST_CONF: configuration,
        AWS_CONFIG_FILE: '/dev/null',
        AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
        AWS_EC2_METADATA_DISABLED: 'true',
      },
      args: [
        '--tb=short',
        '-p',
        'svc_s3_tests',
        `--timeout=${TEST_TIMEOUT_SECONDS}`,
        '-n',
        String(options.workers ?? 3),
        '-m',
        MARKERS,
        ...selection,
      ],
      log,
      report,
      signal,
    });
  }
  const phases = reports.map((each) => ({ ...each, name: each.name.slice(each.name.lastIndexOf('::') + 2) }));
  return { outcomes: outcomesOf(phases), phases, log: platform.log(), durationMs: performance.now() - startedAt };
}
