import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../support/serve-forks.ts', import.meta.url));
const FORKS = 2;

async function serve(...args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the platform ended');
    return String(value);
  };
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const { url, headers } = JSON.parse(await line()) as { url: string; headers: Record<string, string> }; // printed by it
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const response = await fetch(`${url}${path}`, { ...init, body: JSON.stringify(body) });
    expect(response.status).toBe(201);
    return (await response.json()) as { id: string };
  };
  return { post, line, kill };
}

it.each(['before', 'after'])(
  'deletes the buckets of a fork that was killed %s its last bucket existed, except those that a sandbox mounts',
  { timeout: 600_000 },
  async (stop) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'svc.db');
    const buckets = join(folder.path, 'buckets');
    await mkdir(buckets);
    const platform = await serve(file, buckets, stop, String(FORKS));
    try {
      const mounts = [{ bucket: 'photos', path: '/data' }];
      const { id } = await platform.post('/api/sandboxes?wait_ms=30000', { image: 'busybox', mounts });
      void platform.post(`/api/sandboxes/${id}/fork`, { count: FORKS }).catch(() => undefined); // never answered
      expect(await platform.line()).toBe('stopped');
    } finally {
      await platform.kill();
    }
    const names = async (): Promise<string[]> => (await readdir(buckets)).toSorted();
    const left = await names();
    expect(left).toHaveLength(stop === 'before' ? FORKS - 1 : FORKS);
    const again = await serve(file, buckets);
    await again.kill();
    expect(await names()).toEqual(left.slice(0, FORKS - 1)); // the first fork's sandbox exists
  },
);

it(
  'deletes the bucket of a fork that did not start, although it was killed on the way',
  { timeout: 600_000 },
  async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'svc.db');
    const buckets = join(folder.path, 'buckets');
    await mkdir(buckets);
    const platform = await serve(file, buckets, 'removing');
    try {
      const mounts = [{ bucket: 'photos', path: '/data' }];
      const { id } = await platform.post('/api/sandboxes?wait_ms=30000', { image: 'busybox', mounts });
      void platform.post(`/e2b/sandboxes/${id.replace('sbx_', '')}/fork`, {}).catch(() => undefined); // never answered
      expect(await platform.line()).toBe('stopped');
    } finally {
      await platform.kill();
    }
    expect(await readdir(buckets)).toHaveLength(1);
    const again = await serve(file, buckets);
    await again.kill();
    expect(await readdir(buckets)).toEqual([]);
  },
);
