import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { PROJECT_ROOT, type ReadyLine } from '../system/running-platform.ts';

const LOG_LIMIT = 256 * 1024;
/** Far above a start on a busy machine; a start that takes this long has failed. */
const START_LIMIT_MS = 240_000;
/** A shutdown that takes this long has failed. */
const STOP_LIMIT_MS = 120_000;

/** `svc up` as a process that can be killed at any moment, even before it is ready. */
export interface PlatformProcess {
  readonly pid: number;
  /** Rejects if the process ends first. */
  readonly ready: Promise<ReadyLine>;
  readonly log: () => string;
  kill(): Promise<void>;
  /** Sends SIGTERM. Returns whether it ended by itself, with exit code 0. */
  stop(): Promise<boolean>;
}

export function startPlatformProcess(dataFolder: string, configFile: string): PlatformProcess {
  const ports = ['--port', '0', '--https-port', '0', '--s3-port', '0'];
  const child = spawn(
    join(PROJECT_ROOT, 'svc'),
    ['up', '--json', '--data', dataFolder, '--config', configFile, ...ports],
    {
      cwd: PROJECT_ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_LIMIT);
  });
  const gone = once(child, 'close');
  const ready = new Promise<ReadyLine>((resolve, reject) => {
    const fail = (reason: string): void => reject(new Error(`svc up ${reason}; it said:\n${log.slice(-4_000)}`));
    const timer = setTimeout(() => fail('did not get ready'), START_LIMIT_MS);
    createInterface({ input: child.stdout }).once('line', (line) => {
      clearTimeout(timer);
      resolve(JSON.parse(line) as ReadyLine); // the documented line
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? code}`);
    });
  });
  ready.catch(() => undefined); // a caller that kills it early does not wait for it
  return {
    pid: child.pid ?? -1,
    ready,
    log: () => log,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(timer);
      return child.exitCode === 0;
    },
  };
}
