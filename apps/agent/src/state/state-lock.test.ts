import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createLogger } from '@svc/telemetry';
import { fakeClock, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@svc/runtime';
import { lockStateFolder } from './state-lock.ts';

let folder: TemporaryFolder;
let lines: string[];
let holder: ChildProcess | undefined;
const log = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } });

beforeEach(async () => {
  folder = await temporaryFolder();
  lines = [];
});
afterEach(async () => {
  holder?.kill('SIGKILL');
  holder = undefined;
  await folder.remove();
});

/** Another process that only holds the lock. */
async function holdElsewhere(): Promise<ChildProcess> {
  const program = `
    import { lockStateFolder } from ${JSON.stringify(import.meta.resolve('./state-lock.ts'))};
    import { systemClock as clock } from ${JSON.stringify(import.meta.resolve('@svc/runtime'))};
    await lockStateFolder({ folder: ${JSON.stringify(folder.path)}, clock, log: { warn() {} } });
    process.stdout.write('held');
    setInterval(() => undefined, 60_000);
  `;
  holder = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (holder.stdout === null) throw new Error('the child has no output');
  await once(holder.stdout, 'data');
  return holder;
}

describe('the state folder lock', () => {
  it('passes from one process to the next, which waits for it', async () => {
    const first = await lockStateFolder({ folder: folder.path, clock: systemClock, log });
    const second = lockStateFolder({ folder: folder.path, clock: systemClock, log });
    await expect.poll(() => lines.join('')).toContain('waiting for it to exit');
    first.release();
    (await second).release();
  });

  it('is released when its holder is killed', async () => {
    const child = await holdElsewhere();
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await lockStateFolder({ folder: folder.path, clock: systemClock, log })).release();
    expect(lines).toEqual([]);
  });

  it('times out with folder, holder and key', async () => {
    const child = await holdElsewhere();
    const clock = fakeClock();
    const refused = expect(lockStateFolder({ folder: folder.path, clock, log })).rejects.toMatchObject({
      code: 'STATE_DIR_IN_USE',
      message: expect.stringMatching(/set agent\.state_dir to a different folder$/) as string,
      details: { path: folder.path, holder: expect.stringContaining(`process ${child.pid} on `) as string },
    });
    await clock.advance(60_000);
    await refused;
  });

  it('is skipped with a warning where locking is not possible', async () => {
    (await lockStateFolder({ folder: '/proc/self', clock: systemClock, log })).release();
    expect(lines.join('')).toContain('would go unnoticed');
  });
});
