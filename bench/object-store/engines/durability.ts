import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, waitFor } from '@svc/testing';
import { runLoad } from '../load/run-load.ts';
import { putRequests } from '../measures/bucket.ts';
import type { Engine } from './engine.ts';

/** Sequential, so that no two of them can share a sync call. */
const PUTS = 100;
const BODY_BYTES = 4 * 1024;
const SYNC_CALLS = ['fsync', 'fdatasync', 'syncfs', 'sync_file_range', 'msync'];

/** Number of sync calls during the puts. */
export interface SyncCount {
  readonly engine: string;
  readonly puts: number;
  readonly syncs: number;
}

/**
 * Puts objects one by one and counts with strace how often the engine's processes asked the kernel to write data to
 * disk, which verifies the configured durability. Throws if it is less than once per object, since such an engine is
 * not comparable for writes. Null if strace is not installed.
 */
export async function countSyncs(engine: Engine, processes: readonly number[]): Promise<SyncCount | null> {
  const strace = findCommand('strace');
  if (strace === null) return null;
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-strace-'));
  const file = join(folder, 'calls');
  const targets = processes.flatMap((pid) => ['-p', String(pid)]);
  const tracer = spawn(strace, ['-f', '-e', `trace=${SYNC_CALLS.join(',')}`, '-o', file, ...targets], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    let said = '';
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await waitFor(() => tracer.exitCode !== null || said.split(' attached').length > processes.length, {
      description: 'strace',
    });
    if (tracer.exitCode !== null) throw new Error(`strace could not look at ${engine.name}: ${said}`);
    const keys = Array.from({ length: PUTS }, (_, index) => `synced/${index}`);
    const options = { endpoint: engine.endpoint, connections: 1, milliseconds: 60_000, repeat: false };
    await runLoad(putRequests(engine, keys, Buffer.alloc(BODY_BYTES, 's')), options);
  } finally {
    if (tracer.exitCode === null) {
      const gone = once(tracer, 'exit');
      tracer.kill('SIGINT'); // detaches from the processes
      await gone;
    }
  }
  const calls = await readFile(file, 'utf8');
  await rm(folder, { recursive: true, force: true });
  const begun = new RegExp(String.raw`^\d+ +(?:${SYNC_CALLS.join('|')})\(`, 'gm');
  const syncs = [...calls.matchAll(begun)].length;
  if (syncs < PUTS) throw new Error(`${engine.name} synced ${syncs} times for ${PUTS} objects: it is not durable`);
  return { engine: engine.name, puts: PUTS, syncs };
}
