import { randomBytes } from 'node:crypto';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunningPlatform } from '../system/running-platform.ts';
import { createReplicas, type Replicas } from './replicas.ts';

/** Without sandboxes, so that a data folder can be copied while it is in use. */
const SERVICES = 'clusters';

describeRequiring(['postgres'], 'replicas', () => {
  let replicas: Replicas;
  beforeEach(async () => {
    replicas = await createReplicas(SERVICES);
  });
  afterEach(() => replicas[Symbol.asyncDispose]());

  const status = async ({ ready }: RunningPlatform, token = ready.token): Promise<number> =>
    (await fetch(`${ready.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  const copyFolder = (from: string, to: string): Promise<void> =>
    cp(replicas.dataFolder(from), replicas.dataFolder(to), { recursive: true });

  it('refuse a copy of a data folder in use, until the copy has an id of its own', async () => {
    const first = await replicas.start({ name: 'a' });
    await copyFolder('a', 'copy');
    const refused = await replicas.refusedStart({ name: 'copy' });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain('if this data folder is a copy, delete its file replica-id and start again');
    expect(await status(first)).toBe(200);
    await rm(join(replicas.dataFolder('copy'), 'replica-id'));
    const copy = await replicas.start({ name: 'copy' });
    expect([await status(first), await status(copy)]).toEqual([200, 200]);
  });

  it('start again at once on the same folder after kill -9', async () => {
    const first = await replicas.start({ name: 'a' });
    await first.kill();
    const again = await replicas.start({ name: 'a' });
    expect(again.log()).not.toContain('waiting for the lease');
    expect(await status(again)).toBe(200);
  });

  it('end themselves when they return after another process took their id', async () => {
    const first = await replicas.start({ name: 'a' });
    await copyFolder('a', 'moved');
    process.kill(first.ready.pid, 'SIGSTOP');
    try {
      const moved = await replicas.start({ name: 'moved' }); // waits for the lease of the stopped process
      expect(moved.log()).toContain('waiting for the lease');
      process.kill(first.ready.pid, 'SIGCONT');
      await waitFor(() => !isAlive(first.ready.pid), { description: 'the first process to end' });
      expect(first.log()).toContain('Another svc process took over the replica id');
      expect(await status(moved)).toBe(200);
    } finally {
      if (isAlive(first.ready.pid)) process.kill(first.ready.pid, 'SIGCONT');
    }
  });

  it('refuse to start with another master key', async () => {
    const first = await replicas.start({ name: 'a' });
    const other = randomBytes(32).toString('hex');
    const refused = await replicas.refusedStart({ name: 'b', environment: { SVC_MASTER_KEY: other } });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toMatch(/The master key local:[0-9a-f]+ is not the one of this database, local:[0-9a-f]+/);
    expect(refused.stderr).not.toContain(other);
    expect(await status(first)).toBe(200);
    // During a rotation, a replica knows both keys.
    const rotating = { SVC_MASTER_KEY: other, SVC_MASTER_KEY_PREVIOUS: replicas.masterKey };
    expect(await status(await replicas.start({ name: 'b', environment: rotating }))).toBe(200);
  });

  it('refuse the embedded engine in a second data folder, also when it starts alone', async () => {
    const environment = { SVC_SERVICES: 'object-store' };
    const first = await replicas.start({ name: 'a', environment });
    const refused = await replicas.refusedStart({ name: 'b', environment });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toMatch(/embedded engine of another data folder .* set object_store\.engine to s3/);
    expect(await status(first)).toBe(200);
    await first.stop();
    expect((await replicas.refusedStart({ name: 'b', environment })).exitCode).not.toBe(0);
    expect(await status(await replicas.start({ name: 'a', environment }))).toBe(200);
  });

  it('revoke only the start token of their own previous start', async () => {
    const first = await replicas.start({ name: 'a' });
    const second = await replicas.start({ name: 'b' });
    expect([await status(first), await status(first, second.ready.token)]).toEqual([200, 200]);
    await second.stop();
    const again = await replicas.start({ name: 'b' });
    expect([await status(first), await status(again)]).toEqual([200, 200]);
    expect(await status(again, second.ready.token)).toBe(401);
    const file = JSON.parse(await readFile(join(replicas.dataFolder('a'), 'owner.json'), 'utf8')) as { token: string }; // its own format
    expect(await status(again, file.token)).toBe(200);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
