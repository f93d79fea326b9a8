import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localDriverReason, localSubject, type LocalSubject } from '../../support/local-subject.ts';
import { sampleSpec } from '../../support/sample-spec.ts';

const reason = localDriverReason();
const title = 'what a kill cuts off';
const limit = (): AbortSignal => AbortSignal.timeout(60_000);

/** Also true for a process that has not been waited for. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return true;
  }
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  beforeEach(async () => {
    subject = await localSubject();
    expect(await subject.driver.open()).toMatchObject({ available: true });
  });
  afterEach(() => subject.dispose());

  const launcherPid = (): number => Number(readFileSync(join(subject.runFolder, 'launcher.lock'), 'utf8'));
  const readFirstProcess = (id: string): number => {
    const state = readFileSync(join(subject.runFolder, 'sandboxes', id, 'state.json'), 'utf8');
    return (JSON.parse(state) as { pid: number }).pid; // written by the launcher
  };
  const start = async (name: string): Promise<string> => {
    const spec = sampleSpec(name);
    await subject.driver.create(spec, limit());
    await subject.driver.start(spec, limit());
    return spec.id;
  };

  it('is retried by the next launcher, invisibly to callers', async () => {
    const id = await start('retried');
    const killed = launcherPid();
    process.kill(killed, 'SIGSTOP'); // it receives the calls but does not handle them
    const calls = Promise.all([subject.driver.inspect(id), subject.driver.stats(id), subject.driver.list()]);
    process.kill(killed, 'SIGKILL');
    const [condition, , found] = await calls;
    expect(condition).toEqual({ running: true, outOfMemory: false });
    expect(found).toContainEqual({ id, running: true, paused: false });
    expect(launcherPid()).not.toBe(killed);
  });

  it('is completed by the next start if the disk was not yet filled', async () => {
    const { driver, folder } = subject;
    const spec = sampleSpec('unfilled');
    await driver.create(spec, limit());
    const data = join(folder.path, 'sandboxes');
    await copyFile(join(data, 'templates', '64.ext4'), join(data, 'disks', spec.id, 'disk.img'));
    await driver.start(spec, limit());
    expect(await driver.inspect(spec.id)).toMatchObject({ running: true });
    await (await driver.connect(spec.id, limit())).close();
  });

  it('releases a slot that was claimed but not recorded', async () => {
    const { driver, runFolder } = subject;
    const id = 'sbx_claimed';
    const folder = join(runFolder, 'sandboxes', id);
    const slot = '/run/svc/slots/15998';
    await mkdir(folder, { recursive: true });
    await writeFile(slot, folder);
    try {
      await driver.remove(id);
      expect(existsSync(slot)).toBe(false);
      expect(existsSync(folder)).toBe(false);
    } finally {
      await rm(slot, { force: true });
    }
  });

  it('leaves no cgroup and no slot once the driver is open again', async () => {
    const id = await start('ended');
    await subject.driver.close();
    const pid = readFirstProcess(id);
    process.kill(pid, 'SIGKILL');
    await waitFor(() => hasEnded(pid), { description: 'the first process to end' });
    expect(readdirSync(join(subject.runFolder, 'sandboxes'))).toEqual([id]);
    expect(await subject.driver.open()).toMatchObject({ available: true });
    expect(readdirSync(join(subject.runFolder, 'sandboxes'))).toEqual([]);
    expect(await subject.driver.list()).toEqual([{ id, running: false, paused: false }]);
  });
});
