import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runInGroup, type GroupOptions } from './process-group.ts';

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const shell = (script: string, more: Partial<GroupOptions> = {}) =>
  runInGroup({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: folder.path,
    environment: { PATH: '/usr/bin:/bin' },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    logFile: join(folder.path, 'log'),
    ...more,
  });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}

const pidIn = (name: string): number => Number(readFileSync(join(folder.path, name), 'utf8'));

describe('runInGroup', () => {
  it('returns the exit code and the whole output', async () => {
    const lines: string[] = [];
    const outcome = await shell('echo one; echo two >&2; exit 3', { onLine: (line) => lines.push(line) });
    expect(outcome).toEqual({ exitCode: 3, timedOut: false });
    expect(lines.toSorted()).toEqual(['one', 'two']);
    expect(readFileSync(join(folder.path, 'log'), 'utf8').split('\n').toSorted()).toEqual(['', 'one', 'two']);
  });

  it('ends the children of a command that times out', async () => {
    const outcome = await shell('sleep 1000 & echo $! >child; wait', { timeoutMs: 300 });
    expect(outcome).toEqual({ exitCode: null, timedOut: true });
    await waitFor(() => !isAlive(pidIn('child')));
  });

  it('ends processes that a command leaves running', async () => {
    await shell('sleep 1000 >/dev/null 2>&1 & echo $! >child');
    await waitFor(() => !isAlive(pidIn('child')));
  });

  it('ends the whole group when the signal aborts', async () => {
    const ending = new AbortController();
    const running = shell('sleep 1000 & echo $! >child; echo ready; wait', {
      signal: ending.signal,
      onLine: () => ending.abort(),
    });
    expect(await running).toMatchObject({ exitCode: null });
    await waitFor(() => !isAlive(pidIn('child')));
  });

  it('reports an unknown command', async () => {
    await expect(shell('', { command: '/absent/program' })).rejects.toThrow(/ENOENT/);
  });
});
