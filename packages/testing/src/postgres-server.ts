import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, createWriteStream, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** A PostgreSQL server started for tests or a bench. */
export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
  /** Ends the server like a power failure. `stop` still removes its data. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data, on the same port. */
  restart(): Promise<void>;
  /** Makes a standby the primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
}

/** How to start a server. `logFile` gets its output. */
export interface PostgresOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly isRoot: boolean;
  readonly logFile: string;
  readonly signal: AbortSignal;
  /** Syncs commits to the disk. By default they are not, since the data of tests does not outlive them. */
  readonly durable?: boolean;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** URL of a running server of `startPostgres`: the new one is its streaming standby. */
  readonly standbyOf?: string;
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

const USER = 'svc';
const START_TIMEOUT_MS = 60_000;

/**
 * Returns the newest version's folder of programs, or null. Debian keeps each major version in its own folder off PATH.
 */
export function findPostgresPrograms(): string | null {
  return (
    globSync('/usr/lib/postgresql/*/bin/postgres')
      .toSorted()
      .at(-1)
      ?.replace(/\/postgres$/, '') ?? null
  );
}

/**
 * Starts a separate cluster in a temporary folder, on a free port of 127.0.0.1, as an unprivileged user: PostgreSQL
 * refuses to run as root.
 */
export async function startPostgres(programs: string, options: PostgresOptions): Promise<PostgresServer> {
  const account = options.isRoot ? unprivilegedAccount() : {};
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const { standbyOf } = options;
  const password = standbyOf === undefined ? randomBytes(18).toString('hex') : new URL(standbyOf).password;
  try {
    const data = join(folder, 'data');
    if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid);
    const run = async (program: string, args: readonly string[]): Promise<void> => {
      const env = { ...options.environment, PGPASSWORD: password };
      await promisify(execFile)(join(programs, program), args, { ...account, cwd: folder, env });
    };
    if (standbyOf === undefined) {
      const passwordFile = join(folder, 'password');
      writeFileSync(passwordFile, password, { mode: 0o600 });
      if (account.uid !== undefined && account.gid !== undefined) chownSync(passwordFile, account.uid, account.gid);
      const initArguments = ['-D', data, '-U', USER, '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'scram-sha-256'];
      await run('initdb', [...initArguments, `--pwfile=${passwordFile}`, '--no-sync']);
    } else {
      const { hostname, port } = new URL(standbyOf);
      const from = ['-h', hostname, '-p', port, '-U', USER];
      await run('pg_basebackup', ['-D', data, ...from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
    }
    const port = await freePort();
    let server = launch(programs, data, port, account, options);
    await untilReady(programs, port, server.child, options);
    const restart = async (): Promise<void> => {
      server = launch(programs, data, port, account, options);
      await untilReady(programs, port, server.child, options);
    };
    const stop = async (): Promise<void> => {
      await server.stop();
      remove();
    };
    const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
    const promote = (): Promise<void> => run('pg_ctl', ['promote', '-w', '-D', data]);
    return { url, stop, kill: () => server.kill(), restart, promote };
  } catch (error) {
    remove();
    throw error;
  }
}

function launch(programs: string, data: string, port: number, account: Account, options: PostgresOptions) {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    ...(options.durable === true ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...account,
    cwd: data,
    env: options.environment,
    detached: true, // Ctrl-C reaches only the runner, which then stops the server gracefully
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(options.logFile, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const closeLog = async (): Promise<void> => {
    await exited; // of its processes too, which share its output
    if (log.closed) return;
    log.end();
    await finished(log);
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGQUIT'); // immediate: the data is discarded
    await closeLog();
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGKILL'); // its processes notice and end at once
    await closeLog();
  };
  return { child, stop, kill };
}

async function untilReady(
  programs: string,
  port: number,
  child: ChildProcess,
  options: PostgresOptions,
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    options.signal.throwIfAborted();
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended at its start; see ${options.logFile}`);
    try {
      const args = ['-q', '-h', '127.0.0.1', '-p', String(port)];
      execFileSync(join(programs, 'pg_isready'), args, { env: options.environment, stdio: 'ignore' });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error('PostgreSQL did not become ready', { cause: error });
    }
    await delay(100, undefined, { signal: options.signal });
  }
}

/** Created by Debian's package; its id differs between machines. */
function unprivilegedAccount(): Account {
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: idOf('-u'), gid: idOf('-g') };
}
