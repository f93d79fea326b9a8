import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The single line of `svc up --json`: everything that a client needs. */
export interface ReadyLine {
  readonly url: string;
  readonly https_url: string;
  readonly s3_endpoint: string;
  /** Null without `--s3-https-port`. */
  readonly s3_https_endpoint: string | null;
  readonly token: string;
  readonly workspace_uuid: string;
  readonly tenant_id: string;
  readonly pid: number;
}

export interface RunningPlatform extends AsyncDisposable {
  readonly ready: ReadyLine;
  /** From the start of the command to its line. */
  readonly startMs: number;
  /** Its stderr so far. */
  log(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL, like a power failure; resolves when the process has ended. */
  kill(): Promise<void>;
}

export interface PlatformOptions {
  dataFolder: string;
  flags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Folder of another version; defaults to this checkout. */
  root?: string;
  /** Command that runs the platform, such as one that takes the network away. */
  wrapper?: readonly string[];
}

const ANY_PORTS = ['--port', '0', '--https-port', '0', '--s3-port', '0'];
/** The first start on a machine installs packages and builds the console. */
const START_TIMEOUT_MS = 10 * 60_000;
/** A refusal takes a second; a process still running after this time never exits. */
const END_TIMEOUT_MS = 60_000;
/** A test machine's disk may be nearly full, so use a smaller reserve than the default. */
const SMALL_RESERVE = { SVC_DISK_RESERVE_MB: '64' };
const LOG_LIMIT = 4 * 1024 * 1024;

/** Runs `./svc up --json --data X` on free ports, like a user. Rejects with its output if it exits instead. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const startedAt = performance.now();
  const flags = ['up', '--json', '--data', options.dataFolder, ...ANY_PORTS, ...(options.flags ?? [])];
  const { child, log } = spawnCommand(flags, options);
  const stop = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    return child.exitCode;
  };
  try {
    const line = await firstLine(child, log);
    const ready = JSON.parse(line) as ReadyLine; // the documented line; a missing field fails the test that uses it
    const startMs = performance.now() - startedAt;
    const kill = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      process.kill(ready.pid, 'SIGKILL'); // the child may be the shell that started it
      await gone;
    };
    return { ready, startMs, log, stop, kill, [Symbol.asyncDispose]: async () => void (await stop()) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Runs `./svc` to its end, for commands with output and for starts that must be refused. Kills one that keeps running.
 */
export async function runSvc(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const { child, log } = spawnCommand(flags, { environment });
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
  await once(child, 'close');
  clearTimeout(timer);
  return { exitCode: child.exitCode, stdout, stderr: log() };
}

function spawnCommand(
  flags: readonly string[],
  { environment = {}, root = PROJECT_ROOT, wrapper = [] }: Pick<PlatformOptions, 'environment' | 'root' | 'wrapper'>,
): { child: ChildProcess; log: () => string } {
  const [program = '', ...args] = [...wrapper, join(root, 'svc'), ...flags];
  const child = spawn(program, args, {
    cwd: root,
    env: { ...inheritedEnvironment(), ...SMALL_RESERVE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-LOG_LIMIT);
  });
  return { child, log: () => log };
}

/** Environment without any platform settings of the user. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SVC_') && !name.startsWith('VITEST'),
  );
  return Object.fromEntries(entries.filter(([name]) => name !== 'NODE_ENV' && name !== 'KUBECONFIG'));
}

function firstLine(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      reject(new Error(`svc up ${reason}; it said:\n${log()}`));
    };
    const timer = setTimeout(() => fail('printed no line in time'), START_TIMEOUT_MS);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? `exit code ${code ?? ''}`}`));
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).once('line', (line) => {
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve(line);
    });
  });
}
