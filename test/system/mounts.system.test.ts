import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Sandbox } from '@svc/sdk';
import { describeRequiring, findCommand, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient, type ApiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const ENVIRONMENT = { SVC_SANDBOXES_IMAGE_REGISTRY: '', SVC_SERVICES: 'object-store,sandboxes' };

/** Real FUSE mounts of a real object store in real sandboxes. */
describeRequiring(['linux', 'root'], 'a bucket in a sandbox', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let api: ApiClient;
  let bucket: string;

  const start = async (): Promise<void> => {
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment: ENVIRONMENT });
    api = apiClient(platform.ready);
  };
  beforeAll(async () => {
    folder = await temporaryFolder();
    await start();
    bucket = await newBucket();
  });
  afterAll(async () => {
    for await (const { id } of sandboxes().list()) await (await sandboxes().get(id)).delete();
    await platform.stop();
    await folder.remove();
  });

  const store = () => `/api/v1/workspace/${platform.ready.workspace_uuid}/object-store/buckets`;
  const newBucket = async (): Promise<string> => {
    const name = `mounted-${randomBytes(6).toString('hex')}`;
    await api.post(store(), { name });
    return name;
  };
  const sandboxes = () =>
    createClient({ baseUrl: platform.ready.url, credential: { kind: 'token', token: platform.ready.token } }).sandboxes;
  const mounted = (more: object = {}, name = bucket): Promise<Sandbox> =>
    sandboxes().create({ image: 'busybox', mounts: [{ bucket: name, path: '/data', ...more }] }, { waitMs: 120_000 });
  const shell = async (sandbox: Sandbox, command: string): Promise<string> => {
    const { stdout, stderr } = await sandbox.run(command);
    return stdout + stderr;
  };
  /** The processes that serve mounts of this platform. */
  const programs = (): number[] => {
    const runFolder = createHash('sha256').update(join(folder.path, 'data')).digest('hex').slice(0, 12);
    return readdirSync('/proc').flatMap((pid) => {
      const isOurs = linkOf(`/proc/${pid}/exe`).startsWith(`/run/svc/${runFolder}/bucket-mount-`);
      return isOurs ? [Number(pid)] : [];
    });
  };

  it('is a file system: files, folders, links, renames, appends and attributes', async () => {
    const sandbox = await mounted();
    expect(await shell(sandbox, 'cd /data && echo one > a && echo two >> a && cat a && wc -c < a')).toBe(
      'one\ntwo\n8\n',
    );
    expect(await shell(sandbox, 'cd /data && mkdir -p d/e && mv a d/e/b && ln -s e/b d/l && cat d/l && ls -R')).toBe(
      'one\ntwo\n.:\nd\n\n./d:\ne\nl\n\n./d/e:\nb\n',
    );
    expect(await shell(sandbox, 'cd /data && chmod 640 d/e/b && chown 33:44 d/e/b && stat -c %a:%u:%g d/e/b')).toBe(
      '640:33:44\n',
    );
    expect(
      await shell(sandbox, 'cd /data && printf XX | dd of=d/e/b bs=1 seek=1 conv=notrunc 2>/dev/null; cat d/e/b'),
    ).toBe('oXX\ntwo\n');
    expect(await shell(sandbox, 'cd /data && exec 3<d/e/b && rm -r d && cat <&3; ls')).toBe('oXX\ntwo\n');
    expect(await shell(sandbox, 'cd /data && rmdir none; mkdir f; touch f/x; rmdir f; mknod p p')).toMatch(
      /No such file.*\n.*not empty.*\n.*(not permitted|not supported|not implemented)/,
    );
    await sandbox.delete();
  });

  it('has what another sandbox has closed, in large files and appended ones too', async () => {
    const [writer, reader] = [await mounted(), await mounted({ read_only: true })];
    await shell(writer, 'dd if=/dev/urandom of=/data/big bs=1M count=24 2>/dev/null; echo end >> /data/big');
    const sum = await shell(writer, 'md5sum < /data/big');
    expect(await shell(reader, 'md5sum < /data/big')).toBe(sum);
    await shell(writer, 'echo more >> /data/big; mv /data/big /data/renamed');
    await waitFor(async () => (await shell(reader, 'tail -c 9 /data/renamed')) === 'end\nmore\n');
    await Promise.all([writer.delete(), reader.delete()]);
  });

  it.each(['the other one', '2'])('has %j if it replaced an open file before its first read', async (text) => {
    const [writer, reader] = [await mounted(), await mounted({ read_only: true })];
    await shell(writer, 'echo the first one > /data/replaced');
    await waitFor(async () => (await shell(reader, 'ls /data/replaced')) === '/data/replaced\n');
    const wait = 'touch /tmp/open; until [ -e /tmp/replaced ]; do sleep 0.1; done';
    const reading = shell(reader, `exec 3< /data/replaced; ${wait}; cat <&3`);
    await waitFor(async () => (await shell(reader, 'ls /tmp/open')) === '/tmp/open\n');
    await shell(writer, `echo '${text}' > /data/replaced`);
    await shell(reader, 'touch /tmp/replaced');
    expect(await reading).toBe(`${text}\n`);
    await Promise.all([writer.delete(), reader.delete()]);
  });

  it('has nothing of the bucket outside of the prefix, and no way around read-only', async () => {
    const [all, part] = [await mounted(), await mounted({ prefix: 'in/side', read_only: true })];
    await shell(all, 'mkdir -p /data/in/side; echo kept > /data/in/side/file; echo secret > /data/in/secret');
    await waitFor(async () => (await shell(part, 'cat /data/file')) === 'kept\n');
    expect(await shell(part, 'ls -A /data; cat /data/../data/../secret /data/%2e%2e/secret')).not.toContain('secret\n');
    const tries = [
      'echo x > /data/file',
      'rm /data/file',
      'mount -o remount,rw /data',
      'umount /data',
      'chmod 0 /data/file',
    ];
    for (const each of tries) expect((await part.run(each)).exitCode).not.toBe(0);
    expect((await part.run('ls /dev/fuse')).exitCode).not.toBe(0);
    expect(await shell(all, 'echo y > /data/in/side/file; cat /data/in/side/file')).toBe('y\n'); // the control
    await Promise.all([all.delete(), part.delete()]);
    await waitFor(() => programs().length === 0);
  });

  it('is forked with its sandbox: neither side sees what the other writes, until both are dropped', async () => {
    const [name, shared] = [await newBucket(), await newBucket()];
    const mounts = [
      { bucket: name, path: '/data' },
      { bucket: shared, path: '/shared', read_only: true },
    ];
    const origin = await sandboxes().create({ image: 'busybox', mounts }, { waitMs: 120_000 });
    await shell(origin, 'echo before > /data/file; dd if=/dev/urandom of=/data/big bs=1M count=2 2>/dev/null');
    const sum = await shell(origin, 'md5sum < /data/big');
    const [fork] = await origin.fork();
    if (fork === undefined) throw new Error('there is one fork');
    const [data, kept] = fork.info.mounts;
    expect(data).toMatchObject({ path: '/data', forked_from: name });
    expect(kept).toMatchObject({ bucket: shared, read_only: true });
    expect(await shell(fork, 'cat /data/file; md5sum < /data/big')).toBe(`before\n${sum}`);
    await shell(fork, 'echo fork > /data/file; echo new > /data/in-fork; rm /data/big');
    await shell(origin, 'echo origin > /data/file; echo new > /data/in-origin');
    expect(await shell(fork, 'cat /data/file; ls /data')).toBe('fork\nfile\nin-fork\n');
    expect(await shell(origin, 'cat /data/file; ls /data; md5sum < /data/big')).toBe(
      `origin\nbig\nfile\nin-origin\n${sum}`,
    );
    await fork.delete({ dropData: true });
    const names = async () => (await api.get<{ data: { buckets: { name: string }[] } }>(store())).data.buckets;
    expect((await names()).map((each) => each.name)).not.toContain(data?.bucket);
    expect(await shell(origin, 'cat /data/file')).toBe('origin\n');
    await origin.delete();
  });

  it('is forked to the end although the platform was killed', async () => {
    const name = await newBucket();
    const sandbox = await mounted({}, name);
    await shell(sandbox, 'for n in 1 2 3; do echo $n > /data/$n; done');
    const fork = `${name}-fork`;
    await api.post(`${store()}/${name}/fork?wait_ms=0`, { name: fork });
    await platform.kill();
    await start();
    await shell(await sandboxes().get(sandbox.id), 'echo later > /data/1');
    const state = () => api.get<{ data: { state: string } }>(`${store()}/${fork}/fork`);
    await waitFor(async () => (await state()).data.state === 'ready');
    const other = await mounted({}, fork);
    expect(await shell(other, 'cat /data/*')).toBe('1\n2\n3\n');
    await Promise.all([(await sandboxes().get(sandbox.id)).delete(), other.delete()]);
  });

  it.each(['kill', 'stop'] as const)(
    'loses nothing that was closed, and works on, after a %s of the platform',
    async (end) => {
      // A file that is being written is seen as a whole through another mount.
      const mounts = [
        { bucket, path: '/data' },
        { bucket, path: '/seen', read_only: true },
      ];
      const { id } = await sandboxes().create({ image: 'busybox', mounts }, { waitMs: 120_000 });
      const at = async (command: string): Promise<string> => shell(await sandboxes().get(id), command);
      const count = 'echo $n > /data/count && echo $n > /tmp/next && mv /tmp/next /tmp/closed';
      await at('rm -f /data/count');
      await at(`(n=0; while [ $n -lt 100000 ]; do n=$((n+1)); ${count}; done) > /tmp/errors 2>&1 &`);
      const closed = async (): Promise<number> => Number(await at('cat /tmp/closed'));
      await waitFor(async () => (await closed()) > 50);
      await platform[end]();
      await start();
      const before = await closed();
      expect(Number(await at('cat /seen/count'))).toBeGreaterThanOrEqual(before);
      await waitFor(async () => (await closed()) > before + 50);
      expect(await at('cat /tmp/errors')).toBe('');
      await (await sandboxes().get(id)).delete();
    },
  );

  it.each(['crun', 'runc'])('is the same with the runtime %s', async (runtime) => {
    if (findCommand(runtime, process.env['PATH']) === null) return;
    await using other = await startPlatform({
      dataFolder: join(folder.path, runtime),
      environment: { ...ENVIRONMENT, SVC_SANDBOXES_RUNTIME: runtime },
    });
    const { ready } = other;
    await apiClient(ready).post(`/api/v1/workspace/${ready.workspace_uuid}/object-store/buckets`, { name: 'work' });
    const client = createClient({ baseUrl: ready.url, credential: { kind: 'token', token: ready.token } });
    const mounts = [
      { bucket: 'work', path: '/data' },
      { bucket: 'work', path: '/ro', read_only: true },
    ];
    const sandbox = await client.sandboxes.create({ image: 'busybox', mounts }, { waitMs: 120_000 });
    expect(await shell(sandbox, 'echo x > /data/file; mv /data/file /data/moved; cat /ro/moved')).toBe('x\n');
    expect((await sandbox.run('rm /ro/moved')).exitCode).not.toBe(0);
    await sandbox.delete();
  });

  it('ends with the bucket, also for files that are open, and comes back with a restart after a crash', async () => {
    const name = await newBucket();
    const sandbox = await mounted({}, name);
    await shell(sandbox, 'echo x > /data/file');
    for (const pid of programs()) process.kill(pid, 'SIGKILL');
    expect((await sandbox.run('ls /data')).exitCode).not.toBe(0);
    await sandbox.stop();
    await sandbox.start();
    expect(await shell(sandbox, 'cat /data/file')).toBe('x\n');
    await sandbox.run(
      '(exec 3</data/file; touch /tmp/open; while cat <&3 && cat /data/file; do sleep 0.1; done; echo ended > /tmp/end) >/dev/null 2>&1 &',
    );
    await waitFor(async () => (await sandbox.run('test -e /tmp/open')).exitCode === 0);
    await api.delete(`${store()}/${name}`);
    await waitFor(async () => (await shell(sandbox, 'cat /tmp/end')) === 'ended\n');
    expect(await shell(sandbox, 'ls /data')).toContain('Input/output error');
    await sandbox.delete();
  });
});

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // no process, one of the kernel, or one that has ended
  }
}
