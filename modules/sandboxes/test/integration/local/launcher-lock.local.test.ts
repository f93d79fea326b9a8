import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { helperBinaries, localDriverReason, localSubject } from '../../support/local-subject.ts';

const reason = localDriverReason();
const title = 'the launcher of a run folder';

/** Number of processes that have the file open. */
function countHolders(file: string): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readDescriptors(pid).includes(file)).length;
}

/** Empty for a process that ends meanwhile. */
function readDescriptors(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  it('runs only once: another launcher waits for the first to exit', async () => {
    const subject = await localSubject();
    const { driver, runFolder } = subject;
    await mkdir(runFolder, { recursive: true });
    const { file: binary } = await helperBinaries(process.arch);
    const first = spawn(binary, ['host', '--run', runFolder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(first, 'exit');
    try {
      await once(first.stdout, 'data'); // its greeting
      const lock = join(runFolder, 'launcher.lock');
      expect(readFileSync(lock, 'utf8')).toBe(`${first.pid}\n`);
      const opening = driver.open();
      await waitFor(() => countHolders(lock) === 2, { description: 'a second launcher at the lock' });
      expect(driver.status()).toMatchObject({ available: false });
      first.stdin.end();
      expect(await opening).toMatchObject({ available: true });
      await ended;
      expect(readFileSync(lock, 'utf8')).not.toBe(`${first.pid}\n`);
    } finally {
      first.stdin.end();
      await ended;
      await subject.dispose();
    }
  });
});
