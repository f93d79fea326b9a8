import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unlimitedDisk, type DiskSpace } from '@svc/runtime';
import { skippedTitle, temporaryFolder, waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { tarArchive } from '../support/tar-archive.ts';

const reason = localDriverReason();
const title = 'files of volumes';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  /** Bytes that the host has room for. */
  let roomBytes = Infinity;
  const disk: DiskSpace = {
    ...unlimitedDisk,
    take: async (sizeBytes) => {
      roomBytes -= sizeBytes;
      return roomBytes >= 0;
    },
  };
  const unpack = (path: string, body: Uint8Array) =>
    fetch(platform.url + files(path, '/archive'), {
      method: 'PUT',
      body,
      headers: { ...platform.owner.headers, 'content-type': 'application/x-tar' },
    });
  const call = (method: string, path: string, body?: unknown, caller?: FakeCaller) =>
    platform.call(method, path, {
      ...(body === undefined ? {} : { body }),
      ...(caller === undefined ? {} : { caller }),
    });
  const files = (path: string, rest = ''): string => `/api/volumes/data/files${rest}?path=${encodeURIComponent(path)}`;
  const send = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    fetch(platform.url + path, { method: 'POST', body, headers: { ...platform.owner.headers, ...headers } });
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(platform.url + files(path), { headers: { ...platform.owner.headers, ...headers } });
    return { status: response.status, text: await response.text() };
  };
  const create = async (volume: Record<string, unknown> = {}): Promise<string> => {
    const volumes = [{ name: 'data', path: '/data', ...volume }];
    const created = await call('POST', '/api/sandboxes?wait_ms=30000', { image: 'busybox', volumes });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return created.body['id'];
  };
  const shell = async (sandbox: string, command: string): Promise<string> => {
    const { body } = await call('POST', `/api/sandboxes/${sandbox}/exec`, { command });
    return body['stdout'] + body['stderr'];
  };
  const names = async (path: string): Promise<string[]> =>
    (await call('GET', files(path, '/list'))).body['files'].map(({ name }: { name: string }) => name);
  /** Helpers of volumes that run. */
  const servers = (): string[] =>
    readdirSync(join(platform.runFolder, 'sandboxes')).filter((name) => name.startsWith('serve-'));

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox', disk, config: { max_per_caller: 100 } });
    expect(await call('POST', '/api/volumes', { name: 'data', size_mb: 64 })).toMatchObject({ status: 201 });
  });
  afterEach(async () => {
    const { containers } = (await call('GET', '/api/sandboxes')).body as { containers: { id: string }[] };
    for (const { id } of containers) await call('DELETE', `/api/sandboxes/${id}`);
    roomBytes = Infinity;
  });
  afterAll(() => platform.dispose());

  it('are written, listed, read, changed and removed without any sandbox', async () => {
    expect((await send(files('/deep/in/file.txt'), 'hello')).status).toBe(201);
    expect(await read('/deep/in/file.txt')).toEqual({ status: 200, text: 'hello' });
    expect(await read('deep/in/file.txt', { range: 'bytes=1-2' })).toEqual({ status: 206, text: 'el' });
    expect((await call('GET', files('/', '/list'))).body).toMatchObject({ files: [{ name: 'deep', is_dir: true }] });
    const changed = await call('PATCH', files('/deep/in/file.txt'), { mode: '0600', uid: 1000, gid: 1001 });
    expect(changed.body).toMatchObject({ path: '/deep/in/file.txt', mode_octal: '0600', uid: 1000, gid: 1001 });
    const move = { path: '/deep/in/file.txt', target: '/moved' };
    expect((await call('POST', '/api/volumes/data/files/move', move)).status).toBe(200);
    expect((await call('GET', files('/moved', '/stat'))).body).toMatchObject({ uid: 1000, size: 5 });
    expect((await call('POST', files('/folder', '/mkdir'))).status).toBe(201);
    expect((await call('DELETE', files('/deep'))).body).toMatchObject({ deleted: true });
    expect(await read('/deep/in/file.txt')).toMatchObject({ status: 404 });
    expect((await call('DELETE', files('/'))).body).toMatchObject({ status: 403, code: 'PROTECTED_PATH' });
    expect(await names('/')).toEqual(['folder', 'moved']); // and no temporary file or marker
  });

  it('travel as archives both ways', async () => {
    const archive = tarArchive([{ name: 'a/one', content: '1' }]);
    const unpacked = await unpack('/unpacked', archive);
    expect(await unpacked.json()).toMatchObject({ entries: 1 });
    expect((await read('/unpacked/a/one')).text).toBe('1');
    const back = await fetch(`${platform.url}${files('/unpacked')}&archive=tar`, { headers: platform.owner.headers });
    expect((await back.text()).includes('one')).toBe(true);
  });

  it('use no more of the host than it has room for, in small files and in archives', async () => {
    const content = 'x'.repeat(100_000);
    roomBytes = 250_000;
    const statuses = await Promise.all(
      ['/1', '/2', '/3'].map(async (path) => (await send(files(path), content)).status),
    );
    expect(statuses.toSorted((left, right) => left - right)).toEqual([201, 201, 507]);
    roomBytes = 150_000;
    const archive = tarArchive(['a', 'b'].map((name) => ({ name, content })));
    expect(await (await unpack('/full', archive)).json()).toMatchObject({ code: 'HOST_DISK_FULL' });
    roomBytes = Infinity;
    expect(await names('/')).not.toContain('full');
    expect((await unpack('/full', archive)).status).toBe(200);
  });

  it('do not grow from sparse files beyond what was sent', async () => {
    await using folder = await temporaryFolder();
    const sparse = join(folder.path, 'sparse');
    execFileSync('truncate', ['--size=8M', sparse]);
    const archive = execFileSync('tar', ['--sparse', '--create', '--directory', folder.path, 'sparse']);
    expect(archive.length).toBeLessThan(100_000);
    expect(await (await unpack('/sparse', archive)).json()).toMatchObject({ code: 'ARCHIVE_TOO_LARGE' });
  });

  it('are the same for a sandbox that writes to the volume, also while it is paused', async () => {
    const id = await create();
    await send(files('/from-api'), 'api');
    expect(
      await shell(id, 'cat /data/from-api; echo sandbox > /data/from-sandbox; mv /data/from-api /data/renamed'),
    ).toBe('api');
    expect(await read('/from-sandbox')).toEqual({ status: 200, text: 'sandbox\n' });
    expect(await read('/from-api')).toMatchObject({ status: 404 });
    expect((await call('POST', `/api/sandboxes/${id}/pause`)).status).toBe(200);
    expect((await send(files('/while-paused'), 'later')).status).toBe(201);
    expect((await call('GET', `/api/sandboxes/${id}`)).body['paused_at']).toEqual(expect.any(String));
    expect(await shell(id, 'cat /data/while-paused /data/renamed')).toBe('laterapi'); // an access resumes it
    expect((await call('DELETE', '/api/volumes/data')).body).toMatchObject({ code: 'VOLUME_IN_USE' });
    const { body } = await call('POST', '/api/volumes/data/snapshots'); // waits for no helper of files
    expect(body['size_bytes']).toBeGreaterThan(0);
    await call('DELETE', `/api/volume-snapshots/${body['id']}`);
    await call('DELETE', `/api/sandboxes/${id}`);
  });

  it('change under sandboxes that only read, and hinder no sandbox that starts', async () => {
    await send(files('/shared'), 'one');
    const readers = [await create({ read_only: true }), await create({ read_only: true })];
    await send(files('/shared'), 'two');
    for (const id of readers) expect(await shell(id, 'cat /data/shared')).toBe('two');
    for (const id of readers) await call('DELETE', `/api/sandboxes/${id}`);
    await call('DELETE', `/api/sandboxes/${await create()}`); // to write, while the helper of the files still runs
    expect(await read('/shared')).toEqual({ status: 200, text: 'two' });
  });

  it('are whole after concurrent writers of both kinds', async () => {
    const id = await create();
    const block = (letter: string): string => letter.repeat(256 * 1024);
    const inside = shell(
      id,
      'for i in 1 2 3 4 5 6 7 8 9; do echo $i > /data/counted.new; mv /data/counted.new /data/counted; done',
    );
    const writers = ['a', 'b', 'c', 'd'].map((letter) => send(files('/contended'), block(letter)));
    for (const { status } of await Promise.all(writers)) expect([200, 201]).toContain(status);
    await inside;
    const { text } = await read('/contended');
    expect(['a', 'b', 'c', 'd'].map(block)).toContain(text);
    expect((await read('/counted')).text).toBe('9\n');
    const created = await Promise.all([1, 2, 3, 4].map(() => send(files('/exclusive'), 'x', { 'if-none-match': '*' })));
    expect(created.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 412, 412, 412]);
    await call('DELETE', `/api/sandboxes/${id}`);
  });

  it('cannot lead out of the volume', async () => {
    const id = await create();
    await shell(
      id,
      'echo secret > /root/secret; ln -s /root/secret /data/link; ln -s ../../.. /data/up; ln -s /proc/1 /data/process',
    );
    await shell(id, 'mkfifo /data/fifo');
    for (const path of [
      '/link',
      '/../root/secret',
      '/up/root/secret',
      '/process/environ',
      '/proc/self/environ',
      '/etc/passwd',
    ]) {
      expect((await read(path)).status).toBe(404);
    }
    expect(
      (await call('GET', files('/up/../..', '/list'))).body['files'].map(({ name }: { name: string }) => name),
    ).toContain('link');
    expect((await send(files('/up/planted'), 'x')).status).toBe(201); // the top folder of the volume is its own parent
    expect((await read('/planted')).text).toBe('x');
    expect((await send(files('/process/planted'), 'x')).status).toBeGreaterThanOrEqual(400);
    expect((await read('/fifo')).status).toBe(400);
    expect(await shell(id, 'ls /planted /proc/1/planted 2>&1 | grep -c "No such"; cat /root/secret')).toBe(
      '2\nsecret\n',
    );
    for (const path of ['/link', '/up', '/process', '/fifo', '/planted']) await call('DELETE', files(path));
    expect(await shell(id, 'cat /root/secret; ls /proc/1/status')).toBe('secret\n/proc/1/status\n'); // links only
    await call('DELETE', `/api/sandboxes/${id}`);
  });

  it('stop at the size of the volume, and an upload that is cut off leaves nothing', async () => {
    expect((await send(files('/large'), new Uint8Array(80 * 1024 * 1024))).status).toBe(507);
    const controller = new AbortController();
    const cut = fetch(platform.url + files('/cut'), {
      method: 'POST',
      duplex: 'half',
      signal: controller.signal,
      headers: platform.owner.headers,
      body: new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1024)) }),
    });
    await waitFor(async () => (await names('/')).some((name) => name.startsWith('.svc-')));
    controller.abort();
    await expect(cut).rejects.toThrow();
    await waitFor(async () => !(await names('/')).some((name) => name.startsWith('.svc-')));
    expect(await names('/')).not.toContain('cut');
    expect(await names('/')).not.toContain('large');
  });

  it('survive the death of the helper, which leaves nothing of an upload', async () => {
    await send(files('/before'), 'before');
    const [server = ''] = servers();
    const { pid } = JSON.parse(readFileSync(join(platform.runFolder, 'sandboxes', server, 'state.json'), 'utf8')) as {
      pid: number;
    }; // written by the launcher
    let body: ReadableStreamDefaultController<Uint8Array> | undefined;
    const upload = fetch(platform.url + files('/folder/cut'), {
      method: 'POST',
      duplex: 'half',
      headers: platform.owner.headers,
      body: new ReadableStream({
        start: (stream) => {
          body = stream;
          stream.enqueue(new Uint8Array(1024));
        },
      }),
    });
    await waitFor(async () => (await names('/folder')).some((name) => name.startsWith('.svc-')));
    process.kill(pid, 'SIGKILL');
    await waitFor(() => servers().length === 0);
    body?.enqueue(new Uint8Array(1024));
    body?.close();
    const answer = await upload;
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 503,
      body: { code: 'VOLUME_UNREACHABLE' },
    });
    expect((await read('/before')).text).toBe('before');
    await waitFor(
      async () => (await names('/folder')).length === 0 && !(await names('/')).some((name) => name.startsWith('.svc-')),
    );
  });

  it('stay after a restart of the platform, which ends the helper', async () => {
    expect((await send(files('/kept'), 'kept')).status).toBe(201);
    expect(servers()).toHaveLength(1);
    await platform.close();
    await platform.reopen();
    expect(await read('/kept')).toEqual({ status: 200, text: 'kept' });
    // A sandbox of another test that starts just now has the mount in its namespace for a moment.
    const resized = await waitFor(async () => {
      const answer = await call('PATCH', '/api/volumes/data', { size_mb: 96 });
      return answer.body['error']?.code !== 'VOLUME_MOUNTED' && answer;
    });
    expect(resized).toMatchObject({ status: 200, body: { size_mb: 96 } });
    expect(await read('/kept')).toEqual({ status: 200, text: 'kept' });
  });

  it('are for members of the workspace only, and go with the volume', async () => {
    const stranger = platform.access.user('stranger');
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/mkdir'],
      ['DELETE', ''],
      ['PATCH', ''],
    ] as const) {
      const body = method === 'PATCH' ? { mode: '0600' } : undefined;
      expect((await call(method, files('/kept', rest), body, stranger)).status).toBe(404);
    }
    expect((await call('DELETE', '/api/volumes/data')).status).toBe(200);
    expect((await read('/kept')).status).toBe(404);
    expect(servers()).toEqual([]);
  });
});
