import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@svc/testing';

const run = promisify(execFile);

export interface DockerDaemon extends AsyncDisposable {
  command(...args: readonly string[]): Promise<unknown>;
}

/** Starts a separate daemon that affects neither the network nor another daemon of this machine. */
export async function startDocker(folder: string): Promise<DockerDaemon> {
  await mkdir(folder, { recursive: true });
  const socket = `unix://${join(folder, 'socket')}`;
  const roots = [
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'run'),
    '--pidfile',
    join(folder, 'pid'),
  ];
  const child = spawn(
    'dockerd',
    ['--host', socket, ...roots, '--bridge', 'none', '--iptables=false', '--ip6tables=false'],
    {
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'close');
  const command = (...args: readonly string[]): Promise<unknown> => run('docker', ['--host', socket, ...args]);
  const answers = (): Promise<boolean> =>
    command('version').then(
      () => true,
      () => false,
    );
  await waitFor(answers, { timeoutMs: 60_000, description: 'dockerd to listen' });
  return {
    command,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
