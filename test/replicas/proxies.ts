import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommand, freePort, waitFor } from '@svc/testing';
import { PROJECT_ROOT } from '../system/running-platform.ts';

/** The ports of a replica, which it keeps when it restarts. */
export interface ReplicaPorts {
  readonly platform: number;
  readonly s3: number;
}

/** A proxy in front of two replicas, with the configuration of `deploy/`. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly s3Endpoint: string;
}

interface ProxyKind {
  readonly program: string;
  /** In `deploy/`. */
  readonly file: string;
  /** The delivered line that opens a port on all addresses, and the same line for one address. */
  readonly listen: (port: number, address: string) => readonly [string, string];
  readonly flags: (file: string, folder: string) => readonly string[];
}

export const PROXIES = {
  haproxy: {
    program: 'haproxy',
    file: 'haproxy.cfg',
    listen: (port, address) => [`bind :${port}\n`, `bind ${address}\n`],
    flags: (file) => ['-db', '-f', file],
  },
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    listen: (port, address) => [`listen ${port};`, `listen ${address};`],
    flags: (file, folder) => ['-e', 'stderr', '-c', file, '-g', `daemon off; pid ${join(folder, 'nginx.pid')};`],
  },
} as const satisfies Record<string, ProxyKind>;

/** Starts a proxy with the delivered configuration; only its addresses are those of this test. */
export async function startProxy(
  { program, file, listen, flags }: ProxyKind,
  replicas: readonly ReplicaPorts[],
  folder: string,
): Promise<Proxy> {
  const [platformPort, s3Port] = [await freePort(), await freePort()];
  const addresses: (readonly [string, string])[] = [
    listen(4000, `127.0.0.1:${platformPort}`),
    listen(9000, `127.0.0.1:${s3Port}`),
    ...replicas.flatMap(({ platform, s3 }, index): [string, string][] => [
      [`svc-${index + 1}:4000`, `127.0.0.1:${platform}`],
      [`svc-${index + 1}:9000`, `127.0.0.1:${s3}`],
    ]),
  ];
  const delivered = await readFile(join(PROJECT_ROOT, 'deploy', file), 'utf8');
  const configuration = join(folder, file);
  await writeFile(configuration, addresses.reduce(replaceOnce, delivered));
  const logFile = join(folder, `${program}.log`);
  const output = await open(logFile, 'w'); // nginx opens /dev/stdout again, which only works for a file
  const child = spawn(findCommand(program) ?? program, flags(configuration, folder), {
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
  });
  await output.close();
  const gone = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
  };
  const url = `http://127.0.0.1:${platformPort}`;
  const isServing = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await waitFor(async () => child.exitCode !== null || (await isServing()), { timeoutMs: 30_000 });
  } catch (cause) {
    await stop();
    throw new Error(`${program} serves nothing; it said:\n${await readFile(logFile, 'utf8')}`, { cause });
  }
  if (child.exitCode !== null) throw new Error(`${program} ended; it said:\n${await readFile(logFile, 'utf8')}`);
  return { url, s3Endpoint: `http://127.0.0.1:${s3Port}`, [Symbol.asyncDispose]: stop };
}

function replaceOnce(text: string, [from, to]: readonly [string, string]): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0) throw new Error(`${from} is not there once`);
  return before + to + after;
}
