import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'why a real sandbox fails, and that a start brings it back with its files';

/** Provokes each cause on this machine; `images/pull.test.ts` covers IMAGE_PULL_FAILED. */
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const post = (path: string, body?: unknown) =>
    platform.call('POST', `/api/containers${path}`, body === undefined ? {} : { body });
  const get = async () => (await platform.call('GET', `/api/containers/${id}`)).body;
  const shell = async (command: string): Promise<string> => (await post(`/${id}/exec`, { command })).body['stdout'];
  const failsWith = async (code: string): Promise<void> => {
    await waitFor(async () => (await get())['status'] === 'error');
    expect(await get()).toMatchObject({ state_reason: code, error: { code, recoverable: true } });
  };
  const recovers = async (): Promise<void> => {
    expect((await post(`/${id}/start?wait_ms=30000`)).body).toMatchObject({ status: 'running', error: null });
    expect(await shell('cat /kept')).toBe('kept\n');
  };
  const firstProcess = (): number =>
    (JSON.parse(readFileSync(join(platform.runFolder, 'sandboxes', id, 'state.json'), 'utf8')) as { pid: number }).pid;

  beforeAll(async () => {
    // A prepared start would already have what these tests remove.
    platform = await startPlatform({ prepare: 'busybox', config: { max_per_caller: 100, prepared_starts: 0 } });
    const resources = { memory_mb: 64, disk_mb: 64 };
    id = (await post('?wait_ms=30000', { image: 'busybox', resources })).body['id'];
    await shell('echo kept > /kept');
  });
  afterAll(() => platform.dispose());

  it('INIT_CRASHED: the first process is killed', async () => {
    process.kill(firstProcess(), 'SIGKILL');
    await failsWith('INIT_CRASHED');
    await recovers();
  });

  it('OOM_KILLED: the sandbox ends after an out-of-memory kill', async () => {
    await shell('dd if=/dev/zero of=/dev/null bs=256M count=1');
    process.kill(firstProcess(), 'SIGKILL');
    await failsWith('OOM_KILLED');
    await recovers();
  });

  it('NODE_LOST: the sandbox is gone when the platform restarts', async () => {
    const pid = firstProcess();
    await platform.close();
    process.kill(pid, 'SIGKILL');
    await platform.reopen();
    await failsWith('NODE_LOST');
    await recovers();
  });

  it('AGENT_TIMEOUT: the helper does not respond when the platform restarts', async () => {
    const pid = firstProcess();
    await platform.close();
    process.kill(pid, 'SIGSTOP');
    await platform.reopen();
    await failsWith('AGENT_TIMEOUT');
    await recovers();
  });

  it("ROOTFS_FAILED: the sandbox's disk is gone", async () => {
    const record = join(platform.folder, 'sandboxes/disks', id, 'disk.img');
    await post(`/${id}/stop`);
    renameSync(record, `${record}.away`);
    execFileSync('mkdir', [record]); // a folder is not a disk
    expect((await post(`/${id}/start?wait_ms=30000`)).body).toMatchObject({ status: 'error' });
    await failsWith('ROOTFS_FAILED');
    execFileSync('rmdir', [record]);
    renameSync(`${record}.away`, record);
    await recovers();
  });

  it('RUNTIME_FAILED: the helper cannot be executed', async () => {
    await post(`/${id}/stop`);
    const helpers = readdirSync(platform.runFolder).filter((name) => name.startsWith('agent-'));
    const files = helpers.map((name) => join(platform.runFolder, name));
    for (const file of files) chmodSync(file, 0o644);
    expect((await post(`/${id}/start?wait_ms=30000`)).body).toMatchObject({ status: 'error' });
    await failsWith('RUNTIME_FAILED');
    for (const file of files) chmodSync(file, 0o755);
    await recovers();
  });

  it('DISK_FULL: the machine has no space for another disk', async () => {
    const disks = join(platform.folder, 'sandboxes/disks');
    // Mount while the platform is closed: a later mount is not visible where disks are created.
    await platform.close();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disks]);
    try {
      await platform.reopen();
      const made = await post('?wait_ms=30000', { image: 'busybox', resources: { disk_mb: 64 } });
      expect(made.body).toMatchObject({ status: 'error', error: { code: 'DISK_FULL', recoverable: true } });
      await platform.call('DELETE', `/api/containers/${made.body['id']}`);
      await waitFor(() => readdirSync(disks).length === 0);
    } finally {
      await platform.close();
      execFileSync('umount', [disks]);
      await platform.reopen();
    }
    expect(await shell('cat /kept')).toBe('kept\n');
  });
});
