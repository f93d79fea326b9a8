import { describeRequiring } from '@svc/testing';
import { dockerSubject, type DockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { createOwners, type Owners } from '@svc/sandboxes/testing/docker-names';
import { startPlatform, type TestPlatform } from '@svc/sandboxes/testing/platform';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../kubernetes/commands.ts';
import { DOCKER_REQUIREMENTS } from './requirements.ts';
import { startDocker, type Docker } from './start.ts';

/** The data folder has this path on both machines. */
const PATH = '/var/lib/svc';

describeRequiring(DOCKER_REQUIREMENTS, 'platforms on two machines with one engine and the same folder', () => {
  let docker: Docker;
  let subject: DockerSubject;
  let first: TestPlatform;
  let second: TestPlatform | null;
  let owners: Owners;

  beforeAll(async () => {
    docker = await startDocker();
  });
  afterAll(() => docker.stop());
  beforeEach(async () => {
    second = null;
    subject = await dockerSubject({ socket: docker.socket });
    owners = createOwners('installation-1', 'node-1', PATH);
    first = await startPlatform({
      get driver() {
        return subject.again({ owners });
      },
    });
  });
  afterEach(async () => {
    await first.dispose();
    await second?.dispose();
    expect(await containers()).toEqual([]);
    await subject.dispose();
  });

  const startSecond = (): Promise<TestPlatform> =>
    startPlatform({ driver: subject.again({ owners: createOwners('installation-2', 'node-2', PATH) }) });
  const engine = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await runCommand('docker', ['-H', `unix://${docker.socket}`, ...args]);
    return stdout.split('\n').filter((line) => line !== '');
  };
  const containers = (): Promise<string[]> => engine('ps', '--format', '{{.Names}}');
  const create = async (platform: TestPlatform, body: Record<string, unknown> = {}): Promise<string> => {
    const wish = { image: 'busybox', network: 'none', ...body };
    const made = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: wish });
    expect(made.body).toMatchObject({ status: 'running', error: null });
    return made.body['id'];
  };
  const run = async (platform: TestPlatform, id: string, command: string): Promise<unknown> =>
    (await platform.call('POST', `/api/sandboxes/${id}/exec`, { body: { command } })).body['stdout'];

  it('leave the containers of one another alone', async () => {
    const id = await create(first);
    second = await startSecond();
    const other = await create(second);
    await first.close();
    await first.reopen();
    expect(await containers()).toHaveLength(2);
    expect(await run(first, id, 'echo first')).toBe('first\n');
    expect(await run(second, other, 'echo second')).toBe('second\n');
  });

  it('have a firewall each, which a platform with networks leaves behind', async () => {
    const tables = async (): Promise<string[]> => {
      const { stdout } = await runCommand('nft', ['list', 'tables']);
      return stdout.split('\n').filter((line) => line.includes('svc_sandboxes_docker_'));
    };
    const own = await tables();
    expect(own).toHaveLength(1);
    second = await startSecond();
    expect(await tables()).toHaveLength(2);
    await second.close();
    expect(await tables()).toEqual(own);

    const id = await create(first, { network: 'egress' });
    await first.close();
    expect(await tables()).toEqual(own);
    await first.reopen();
    expect((await first.call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
    await expect.poll(containers).toEqual([]);
    await first.close();
    expect(await tables()).toEqual([]);
    await first.reopen();
  });

  it('keep the sandboxes and snapshots of an older version, and take none of those for their own', async () => {
    const newer = owners;
    owners = { current: newer.former, former: 'none' }; // how an older version marks what it makes
    await first.close();
    await first.reopen();
    const id = await create(first);
    await run(first, id, 'echo kept > /root/file');
    const snapshot = await first.call('POST', `/api/sandboxes/${id}/snapshots`);
    expect(snapshot.status).toBe(201);
    const before = await containers();
    expect(before).toEqual([`svc-${newer.former}-${id}`]);
    await first.close();

    second = await startSecond();
    expect(await containers()).toEqual(before);
    owners = newer;
    await first.reopen();
    expect(await run(first, id, 'cat /root/file')).toBe('kept\n');
    expect(await containers()).toEqual(before);
    expect((await first.call('POST', `/api/sandboxes/${id}/stop`)).status).toBe(200);
    expect(await first.call('POST', `/api/sandboxes/${id}/start?wait_ms=30000`)).toMatchObject({
      body: { status: 'running' },
    });
    const copy = await create(first, { image: undefined, snapshot_id: snapshot.body['id'] });
    expect(await run(first, copy, 'cat /root/file')).toBe('kept\n');
    for (const each of [id, copy]) expect((await first.call('DELETE', `/api/sandboxes/${each}`)).status).toBe(200);
    await expect.poll(containers).toEqual([]);
    expect((await first.call('DELETE', `/api/snapshots/${snapshot.body['id']}`)).status).toBe(200);
    await expect.poll(() => engine('images', '-a', '-q', '--filter', 'label=svc.snapshot')).toEqual([]);
  });
});
