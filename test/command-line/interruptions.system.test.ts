import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../clients/tree.ts';
import type { CommandLine, RunningCommand } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';
import { S3Gate } from './s3-gate.ts';

const MiB = 1024 * 1024;
const PARTS = 8;
const BY_FIVE = ['--part-size', '5', '--parallel', '1'];

describe('svc object after an interruption', () => {
  let store: CommandStore;
  let gate: S3Gate;
  let svc: CommandLine;
  let large: string;
  beforeAll(async () => {
    store = await startCommandStore();
    gate = await S3Gate.open(store.platform.ready.s3_endpoint);
    await store.svc.answer(['bucket', 'create', 'interrupted']);
    const key = await store.svc.json<{ accessKeyId: string; secretAccessKey: string }>(['key', 'create']);
    svc = store.svc.with({
      SVC_S3_ENDPOINT: gate.endpoint,
      SVC_S3_ACCESS_KEY_ID: key.accessKeyId,
      SVC_S3_SECRET_ACCESS_KEY: key.secretAccessKey,
    });
    large = join(store.folder, 'large');
    await writeFile(large, randomBytes(PARTS * 5 * MiB - 3));
  });
  afterAll(async () => {
    await gate[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  /** Waits until a request is held at the gate. */
  const untilHeld = async (command: RunningCommand): Promise<void> => {
    await Promise.race([
      waitFor(() => gate.held > 0, { timeoutMs: 120_000, description: 'a request to be held' }),
      command.ended.then(({ stderr }) => expect.fail(`it ended by itself: ${stderr}`)),
    ]);
  };
  /** `./svc` execs the program, so this kills the transferring process. */
  const killed = async (command: RunningCommand): Promise<void> => {
    command.child.kill('SIGKILL');
    await command.ended;
  };

  it('uploads only the missing parts after a killed upload', async () => {
    const args = ['object', 'cp', large, 'svc://interrupted/up', ...BY_FIVE];
    gate.reset(/partNumber=/, (index) => (index < 3 ? 'pass' : 'hold'));
    const first = svc.start(args);
    await untilHeld(first);
    await killed(first);
    gate.reset();
    await svc.answer(args);
    expect(gate.seen.filter((line) => line.startsWith('PUT')).map(partNumberOf)).toEqual([4, 5, 6, 7, 8]);
    const target = join(store.folder, 'up again');
    await store.svc.answer(['object', 'cp', 'svc://interrupted/up', target]);
    expect(await digestOf(target)).toBe(await digestOf(large));
    expect(await transfersLeft(store.home)).toEqual([]);
  });

  it('starts over if the file has changed', async () => {
    const path = join(store.folder, 'changing');
    await writeFile(path, randomBytes(3 * 5 * MiB));
    const args = ['object', 'cp', path, 'svc://interrupted/changing', ...BY_FIVE];
    gate.reset(/partNumber=/, (index) => (index < 2 ? 'pass' : 'hold'));
    const first = svc.start(args);
    await untilHeld(first);
    await killed(first);
    await writeFile(path, randomBytes(3 * 5 * MiB));
    gate.reset();
    await svc.answer(args);
    expect(gate.seen.filter((line) => line.startsWith('PUT')).map(partNumberOf)).toEqual([1, 2, 3]);
    const target = join(store.folder, 'changing again');
    await store.svc.answer(['object', 'cp', 'svc://interrupted/changing', target]);
    expect(await digestOf(target)).toBe(await digestOf(path));
  });

  it('downloads only the missing parts after a killed download', async () => {
    await store.svc.answer(['object', 'cp', large, 'svc://interrupted/down']);
    const target = join(store.folder, 'down');
    const args = ['object', 'cp', 'svc://interrupted/down', target, ...BY_FIVE];
    gate.reset(/^GET .*bytes=/, (index) => (index < 3 ? 'pass' : 'hold'));
    const first = svc.start(args);
    await untilHeld(first);
    // Parts missing from the journal are fetched again, at the cost of time but not of correctness.
    await waitFor(async () => (await journaledParts(store.home)) === 3, { description: 'three parts in the journal' });
    await killed(first);
    expect(existsSync(target)).toBe(false);
    gate.reset();
    await svc.answer(args);
    expect(gate.seen.filter((line) => line.includes('bytes='))).toHaveLength(PARTS - 3);
    expect(await digestOf(target)).toBe(await digestOf(large));
    expect(await transfersLeft(store.home)).toEqual([]);
  });

  it('exits with 130 on Ctrl-C and says how to resume', async () => {
    gate.reset(/partNumber=/, () => 'hold');
    const command = svc.start(['object', 'cp', large, 'svc://interrupted/ctrl-c', ...BY_FIVE]);
    await untilHeld(command);
    command.child.kill('SIGINT');
    expect(await command.ended).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining('run the same command'),
    });
  });

  it('rejects corrupted bytes and leaves no file', async () => {
    gate.reset(/^GET .*interrupted.down/, () => 'damage');
    for (const size of ['5', '64']) {
      const target = join(store.folder, 'damaged');
      const { exitCode, stderr } = await svc.run([
        'object',
        'cp',
        'svc://interrupted/down',
        target,
        '--part-size',
        size,
      ]);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('was corrupted in transit')]);
      expect((await readdir(store.folder)).filter((name) => name === 'damaged' || name.endsWith('.part'))).toEqual([]);
    }
    expect(await svc.run(['object', 'cat', 'svc://interrupted/down'])).toMatchObject({ exitCode: 1 });
  });

  it('keeps secrets out of the process list', async () => {
    gate.reset(/partNumber=/, () => 'hold');
    const command = svc.start(['object', 'cp', large, 'svc://interrupted/listed', ...BY_FIVE]);
    await untilHeld(command);
    const shown = await readFile(`/proc/${command.child.pid ?? 0}/cmdline`, 'utf8');
    await killed(command);
    expect(shown).toContain('svc://interrupted/listed');
    expect(shown).not.toMatch(/tsec_|svc_pat_/);
  });
});

function partNumberOf(line: string): number {
  return Number(/partNumber=(\d+)/.exec(line)?.[1]);
}

async function transfersLeft(home: string): Promise<string[]> {
  return readdir(join(home, '.local', 'state', 'svc', 'transfers'));
}

async function journaledParts(home: string): Promise<number> {
  const folder = join(home, '.local', 'state', 'svc', 'transfers');
  const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.json'));
  return (JSON.parse(await readFile(join(folder, name), 'utf8')) as { parts: number[] }).parts.length;
}
