import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../clients/python.ts';
import { runCommand } from '../../kubernetes/commands.ts';
import { toReason, type Outcome } from '../outcome.ts';
import { E2B_COMMIT, JAVASCRIPT_PACKAGE } from './checkout.ts';
import type { SuitePass } from './suite-pass.ts';

const CONFIGURATION = fileURLToPath(new URL('javascript/vitest.config.ts', import.meta.url));
/** What the tests import, besides the dependencies of the SDK. The others of the package build and publish it. */
const TEST_DEPENDENCIES = ['dotenv', 'error-stack-parser-es', 'msw', 'vitest'];

/** The fields of a `package.json` that we read. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Returns a folder with the unmodified SDK, its tests and what they need. Created once per commit. */
export async function prepareJavaScript(checkout: string): Promise<string> {
  const source = join(checkout, JAVASCRIPT_PACKAGE);
  const text = await readFile(join(source, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as Manifest; // npm's own format
  const { name, version, dependencies, devDependencies } = manifest;
  const needed = Object.entries(devDependencies).filter(([each]) => TEST_DEPENDENCIES.includes(each));
  const own = JSON.stringify({ name, version, dependencies, devDependencies: Object.fromEntries(needed) }, null, 2);
  const id = createHash('sha256').update(`${E2B_COMMIT}\n${own}`).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(process.env), 'svc', `e2b-suite-${id}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true }); // left by an interrupted run
  await mkdir(dirname(folder), { recursive: true });
  for (const part of ['src', 'tests']) await cp(join(source, part), join(partial, part), { recursive: true });
  await writeFile(join(partial, 'package.json'), own);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-save'];
  await runCommand('npm', ['install', ...flags, '--prefix', partial]);
  await rename(partial, folder);
  return folder;
}

/** The report of vitest, as far as we read it. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export async function runJavaScript(folder: string, pass: SuitePass): Promise<Outcome[]> {
  const report = join(pass.folder, `${pass.name}.json`);
  const log = openSync(join(pass.folder, `${pass.name}.log`), 'a');
  try {
    const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
    const [program = '', ...args] = [
      ...pass.wrapper,
      process.execPath,
      vitest,
      'run',
      '--root',
      folder,
      '--config',
      CONFIGURATION,
      '--reporter=json',
      `--outputFile=${report}`,
      `--maxWorkers=${pass.workers}`,
      ...(pass.pattern === undefined ? [] : ['--testNamePattern', pass.pattern]),
      ...new Set(pass.tests?.map((name) => `tests/${name.split(' > ', 1)[0] ?? ''}`)),
    ];
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...pass.environment },
      stdio: ['ignore', log, log],
    });
    const end = (): void => void child.kill();
    pass.signal.addEventListener('abort', end);
    await once(child, 'close');
    pass.signal.removeEventListener('abort', end);
  } finally {
    closeSync(log);
  }
  return outcomesOf(await readFile(report, 'utf8'));
}

function outcomesOf(report: string): Outcome[] {
  const { testResults } = JSON.parse(report) as VitestReport;
  return testResults.flatMap((file) => {
    const path = file.name.slice(file.name.indexOf('/tests/') + '/tests/'.length);
    if (file.assertionResults.length === 0 && file.status !== 'passed') {
      return [{ name: path, status: 'failed', reason: toReason(file.message ?? 'did not load') }];
    }
    return file.assertionResults.map(({ fullName, status, failureMessages }) => {
      const name = `${path} > ${fullName}`;
      if (status === 'passed') return { name, status, reason: '' };
      if (status !== 'failed') return { name, status: 'skipped', reason: 'skipped by the suite' };
      return { name, status, reason: toReason((failureMessages[0] ?? '').split('\n    at ')[0] ?? '') };
    });
  });
}
