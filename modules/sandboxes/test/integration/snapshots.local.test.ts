import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'snapshots, forks, pauses and figures of real sandboxes';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const create = async (body: Record<string, unknown>) => {
    const created = await platform.call('POST', '/api/containers?wait_ms=30000', { body });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return created.body;
  };
  const shell = async (sandbox: string, command: string): Promise<string> => {
    const { body } = await platform.call('POST', `/api/containers/${sandbox}/exec`, { body: { command } });
    return body['stdout'] + body['stderr'];
  };
  const take = async (sandbox: string) => {
    const taken = await platform.call('POST', `/api/containers/${sandbox}/snapshots`, { body: {} });
    expect(taken.status).toBe(201);
    return taken.body;
  };
  const disks = (name: string): string[] => {
    try {
      return readdirSync(join(platform.folder, 'sandboxes', name));
    } catch {
      return [];
    }
  };
  const loops = (): string[] =>
    readdirSync('/sys/block').filter((name) => {
      try {
        return readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').includes(
          `${platform.folder}/sandboxes/disks`,
        );
      } catch {
        return false;
      }
    });

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox', config: { max_per_caller: 100 } });
    id = (await create({ image: 'busybox', name: 'source', resources: { disk_mb: 128 } }))['id'];
  });
  afterAll(() => platform.dispose());

  it('copies files that were just written, removed and linked, during writes', async () => {
    await shell(
      id,
      'mkdir -p /data && echo one > /data/file && ln -s file /data/link && rm -rf /home && chown 7:8 /data/file',
    );
    await shell(
      id,
      '(i=0; while :; do i=$((i+1)); echo $i > /data/n.new; mv /data/n.new /data/n; done) >/dev/null 2>&1 &',
    );
    const snapshot = await take(id);
    await shell(id, 'echo two > /data/file');
    const made = (await create({ snapshot_id: snapshot['id'], name: 'copy' }))['id'];
    expect(await shell(made, 'cat /data/link; stat -c %u:%g /data/file; ls -d /home')).toMatch(/^one\n7:8\nls: \/home/);
    expect(await shell(made, 'test "$(cat /data/n)" -gt 0 && echo whole')).toBe('whole\n');
    expect(await shell(made, 'hostname; cat /etc/hostname; grep -c copy /etc/hosts')).toBe('copy\ncopy\n1\n');
    expect(await shell(id, 'cat /data/file')).toBe('two\n');
    const bytes = statSync(join(platform.folder, 'sandboxes/snapshots', snapshot['id'], 'disk.img')).blocks * 512;
    expect(snapshot['size_bytes']).toBe(bytes);
    expect(bytes).toBeLessThan(32 * 1024 * 1024);
    await platform.call('DELETE', `/api/snapshots/${snapshot['id']}`);
    expect(disks('snapshots')).toEqual([]);
    await platform.call('POST', `/api/containers/${made}/stop`);
    await platform.call('POST', `/api/containers/${made}/start?wait_ms=30000`);
    expect(await shell(made, 'cat /data/link')).toBe('one\n');
    await platform.call('DELETE', `/api/containers/${made}`);
  });

  it('is a clean file system, and can be taken of stopped sandboxes', async () => {
    const stopped = (await create({ image: 'busybox', resources: { disk_mb: 64 } }))['id'];
    await shell(stopped, 'echo kept > /kept');
    await platform.call('POST', `/api/containers/${stopped}/stop`);
    const snapshot = await take(stopped);
    const running = await take(id);
    for (const each of [snapshot, running]) {
      const image = join(platform.folder, 'sandboxes/snapshots', each['id'], 'disk.img');
      expect(execFileSync('e2fsck', ['-f', '-n', image], { encoding: 'utf8', stdio: 'pipe' })).toContain('Pass 5');
    }
    await platform.call('DELETE', `/api/containers/${stopped}`);
    const made = (await create({ snapshot_id: snapshot['id'] }))['id'];
    expect(await shell(made, 'cat /kept')).toBe('kept\n');
    for (const each of [snapshot, running]) await platform.call('DELETE', `/api/snapshots/${each['id']}`);
    await platform.call('DELETE', `/api/containers/${made}`);
  });

  it("does not follow a sandbox's symlinks when it writes its files", async () => {
    await shell(
      id,
      'rm /etc/hosts /etc/hostname; ln -s /data/target /etc/hosts; mkdir /etc/hostname; echo mine > /data/target',
    );
    const forked = await platform.call('POST', `/api/containers/${id}/fork?wait_ms=30000`, { body: { name: 'fork' } });
    expect(forked.status).toBe(201);
    const [made] = forked.body['containers'];
    expect(made).toMatchObject({ status: 'running', name: 'fork', resources: { disk_mb: 128 } });
    expect(await shell(made.id, 'cat /data/target; grep -c fork /etc/hosts; ls -d /etc/hostname')).toBe(
      'mine\n1\n/etc/hostname\n',
    );
    await platform.call('DELETE', `/api/containers/${made.id}`);
    expect(disks('snapshots')).toEqual([]);
  });

  it('freezes running processes, even across a platform restart', async () => {
    const paused = (await create({ image: 'busybox', resources: { disk_mb: 64 } }))['id'];
    await shell(paused, '(while :; do date +%s%N > /tick; done) >/dev/null 2>&1 &');
    const usage = async (): Promise<number> => {
      const { current } = (await platform.call('GET', `/api/containers/${paused}/metrics`)).body;
      return current.memory_bytes;
    };
    expect((await platform.call('POST', `/api/containers/${paused}/pause`)).body['paused_at']).not.toBeNull();
    expect(await usage()).toBeGreaterThan(0);
    await platform.close();
    await platform.reopen();
    const states = execFileSync('sh', [
      '-c',
      `cat $(find /sys/fs/cgroup -path '*${paused}/freezer.state' -o -path '*${paused}/cgroup.freeze')`,
    ]);
    expect(states.toString().trim()).toMatch(/^(FROZEN|1)$/);
    expect((await platform.call('GET', `/api/containers/${paused}`)).body['paused_at']).not.toBeNull();
    const before = await shell(paused, 'cat /tick');
    await waitFor(async () => (await shell(paused, 'cat /tick')) !== before);
    await platform.call('POST', `/api/containers/${paused}/pause`);
    const snapshot = await take(paused);
    expect((await platform.call('GET', `/api/containers/${paused}`)).body['paused_at']).not.toBeNull();
    await platform.call('DELETE', `/api/snapshots/${snapshot['id']}`);
    await platform.call('DELETE', `/api/containers/${paused}`);
  });

  it('leaves no device and no file behind', async () => {
    await platform.call('DELETE', `/api/containers/${id}`);
    await waitFor(() => disks('disks').length === 0 && loops().length === 0);
    expect(disks('snapshots')).toEqual([]);
  });
});
