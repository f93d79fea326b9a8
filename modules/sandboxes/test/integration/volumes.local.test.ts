import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'volumes of real sandboxes';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  const call = (method: string, path: string, body?: unknown) =>
    platform.call(method, path, body === undefined ? {} : { body });
  const create = async (body: Record<string, unknown>): Promise<string> => {
    const created = await call('POST', '/api/sandboxes?wait_ms=30000', { image: 'busybox', ...body });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return created.body['id'];
  };
  const shell = async (sandbox: string, command: string): Promise<string> => {
    const { body } = await call('POST', `/api/sandboxes/${sandbox}/exec`, { command });
    return body['stdout'] + body['stderr'];
  };
  const remove = (sandbox: string) => call('DELETE', `/api/sandboxes/${sandbox}`);
  const data = { name: 'data', path: '/data' };
  const folder = (): string => join(platform.folder, 'sandboxes/volumes');
  const loops = (): string[] =>
    readdirSync('/sys/block').filter((name) => {
      const file = `/sys/block/${name}/loop/backing_file`;
      return existsSync(file) && readFileSync(file, 'utf8').includes(folder());
    });

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox', config: { max_per_caller: 100, prepared_starts: 1 } });
    expect(await call('POST', '/api/volumes', { name: 'data', size_mb: 64 })).toMatchObject({ status: 201 });
  });
  afterAll(() => platform.dispose());

  it('serve the files API, and every user of the sandbox', async () => {
    const id = await create({ volumes: [data] });
    const put = await fetch(`${platform.url}/api/sandboxes/${id}/files?path=/data/deep/file`, {
      method: 'POST',
      body: 'text',
      headers: platform.owner.headers,
    });
    expect(put.status).toBe(201);
    expect(await shell(id, 'cat /data/deep/file; ls -A /data; df -m /data | tail -1')).toMatch(
      /^textdeep\n.* \/data\n$/,
    );
    const { body } = await call('POST', `/api/sandboxes/${id}/exec`, { command: 'id -u > /data/who', user: 'nobody' });
    expect(body).toMatchObject({ exit_code: 0 });
    expect(await shell(id, 'stat -c %U /data/who')).toBe('nobody\n');
    await remove(id);
  });

  it('go from one sandbox to the next at once, whether it is stopped or deleted', async () => {
    let id = await create({ volumes: [data] });
    const all = [id];
    for (const round of ['one', 'two', 'three']) {
      await shell(id, `echo ${round} >> /data/rounds`);
      const [gone] = await Promise.all([
        round === 'two' ? call('POST', `/api/sandboxes/${id}/stop`) : remove(id),
        waitFor(async () => {
          const made = await call('POST', '/api/sandboxes?wait_ms=30000', { image: 'busybox', volumes: [data] });
          if (made.status === 409) return false;
          expect(made.body).toMatchObject({ status: 'running', error: null });
          id = made.body['id'];
          all.push(id);
          return true;
        }),
      ]);
      expect(gone.status).toBe(200);
    }
    expect(await shell(id, 'cat /data/rounds')).toBe('one\ntwo\nthree\n');
    for (const each of all) await remove(each);
  });

  it('survive a restart of the platform in running sandboxes, and stay held by them', async () => {
    const id = await create({ volumes: [data] });
    await shell(id, 'echo before > /data/restart');
    await platform.close();
    await platform.reopen();
    expect(await shell(id, 'cat /data/restart; echo after > /data/restart; cat /data/restart')).toBe('before\nafter\n');
    const rival = await call('POST', '/api/sandboxes', { image: 'busybox', volumes: [data] });
    expect(rival).toMatchObject({ status: 409, body: { code: 'VOLUME_IN_USE' } });
    const resize = () => call('PATCH', '/api/volumes/data', { size_mb: 96 });
    const resized = await resize();
    if (resized.status !== 200) {
      expect(resized).toMatchObject({ status: 409, body: { code: 'VOLUME_MOUNTED' } });
      expect((await call('GET', '/api/volumes/data')).body['size_mb']).toBe(64);
      await call('POST', `/api/sandboxes/${id}/stop`);
      expect(await resize()).toMatchObject({ status: 200, body: { size_mb: 96 } });
      await call('POST', `/api/sandboxes/${id}/start?wait_ms=30000`);
    }
    expect(Number(await shell(id, "df -m /data | tail -1 | awk '{print $2}'"))).toBeGreaterThan(80);
    const { body } = await call('POST', '/api/volumes/data/snapshots');
    await remove(id);
    const image = join(folder(), body['id'], 'volume.img');
    expect(execFileSync('e2fsck', ['-f', '-n', image], { encoding: 'utf8', stdio: 'pipe' })).toContain('Pass 5');
    expect(await call('POST', '/api/volumes', { name: 'copy', snapshot_id: body['id'], size_mb: 128 })).toMatchObject({
      status: 201,
    });
    const reader = await create({ volumes: [{ name: 'copy', path: '/data', read_only: true }] });
    expect(await shell(reader, 'cat /data/restart; rm /data/restart')).toMatch(/^after\nrm: .*Read-only file system/);
    await remove(reader);
    await call('DELETE', '/api/volumes/copy');
    await call('DELETE', `/api/volume-snapshots/${body['id']}`);
  });

  it('are copied for a fork, with what the source wrote last', async () => {
    const id = await create({ name: 'source', volumes: [data] });
    await shell(id, 'echo mine > /data/fork');
    const forked = await call('POST', `/api/sandboxes/${id}/fork?wait_ms=30000`);
    expect(forked.status).toBe(201);
    const [child] = forked.body['containers'];
    expect(child).toMatchObject({ status: 'running' });
    await shell(id, 'echo changed > /data/fork');
    expect(await shell(child.id, 'cat /data/fork')).toBe('mine\n');
    await remove(child.id);
    await remove(id);
    await call('DELETE', `/api/volumes/${child.volumes[0].name}`);
  });

  it('are not mounted where a link leads', async () => {
    const id = await create({ name: 'linked' });
    await shell(id, 'ln -s /proc /aside');
    const snapshot = (await call('POST', `/api/sandboxes/${id}/snapshots`)).body['id'];
    await remove(id);
    const volumes = [{ name: 'data', path: '/aside/data' }];
    const made = await call('POST', '/api/sandboxes?wait_ms=30000', { snapshot_id: snapshot, volumes });
    expect(made.body).toMatchObject({ status: 'error', error: { code: 'RUNTIME_FAILED' } });
    expect(made.body['error'].message).toContain('/aside/data');
    expect(made.body['error'].message).not.toContain(platform.folder);
    await remove(made.body['id']);
    await call('DELETE', `/api/snapshots/${snapshot}`);
  });

  it('leave no device and no file behind', async () => {
    expect(await call('DELETE', '/api/volumes/data')).toMatchObject({ status: 200 });
    await waitFor(() => loops().length === 0 && readdirSync(folder()).length === 0);
    expect(readdirSync(folder())).toEqual([]);
  });
});
