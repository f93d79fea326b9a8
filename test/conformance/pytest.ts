import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseReport, type PhaseReport } from './pytest-report.ts';

const REPORT_PLUGIN = fileURLToPath(new URL('pytest-plugin/', import.meta.url));

export interface PytestRun {
  /** The program and the arguments before pytest's own, such as `python`. */
  readonly command: readonly string[];
  /** Where the suite's own configuration is. */
  readonly folder: string;
  /** Folders from which Python imports, first. */
  readonly imports: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** File for the output of pytest, which is appended to. */
  readonly log: string;
  /** File for the results, which is appended to. */
  readonly report: string;
  readonly signal: AbortSignal;
}

/** Runs pytest with a report of every phase. Rejects if it ends without having run the tests. */
export async function runPytest(run: PytestRun): Promise<PhaseReport[]> {
  const output = openSync(run.log, 'a');
  await writeFile(run.report, '', { flag: 'a' });
  try {
    const [program = '', ...before] = run.command;
    const fixed = ['-m', 'pytest', '-q', '-W', 'ignore', '-p', 'no:cacheprovider', '-p', 'svc_pytest_report'];
    const child = spawn(program, [...before, ...fixed, ...run.args], {
      cwd: run.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PYTHONPATH: [REPORT_PLUGIN, ...run.imports].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        SVC_PYTEST_REPORT: run.report,
        ...run.environment,
      },
      stdio: ['ignore', output, output],
    });
    const end = (): void => void child.kill();
    run.signal.addEventListener('abort', end);
    await once(child, 'close');
    run.signal.removeEventListener('abort', end);
    // 0: all passed, 1: some failed, 5: a pattern selected none
    if (![0, 1, 5].includes(child.exitCode ?? -1)) {
      throw new Error(`pytest ended with ${child.exitCode}:\n${(await readFile(run.log, 'utf8')).slice(-4_000)}`);
    }
  } finally {
    closeSync(output);
  }
  return parseReport(await readFile(run.report, 'utf8'));
}
