import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { skippedTitle, waitFor } from '@svc/testing';
import { FileNotFoundError, InvalidArgumentError, Sandbox, SandboxNotFoundError, Template, TimeoutError } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'the E2B SDK';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  const options = (caller = platform.owner) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: caller.token,
    validateApiKey: false,
  });
  let sandbox: Sandbox;

  beforeAll(async () => {
    platform = await startPlatform();
    sandbox = await Sandbox.create('base', {
      ...options(),
      metadata: { purpose: 'shared' },
      envs: { FROM_SANDBOX: 'yes' },
    });
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('runs commands and returns output and exit code', async () => {
    const { stdout, stderr, exitCode } = await sandbox.commands.run('echo out; echo err >&2; echo $FROM_SANDBOX$X', {
      envs: { X: '1' },
    });
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'out\nyes1\n', stderr: 'err\n', exitCode: 0 });
    await expect(sandbox.commands.run('exit 3')).rejects.toMatchObject({ exitCode: 3, error: 'exit status 3' });
    await expect(sandbox.commands.run('true', { cwd: '/missing' })).rejects.toThrow('/missing');
  });

  it('streams the output of a background command, types into it, and kills it', async () => {
    const received: string[] = [];
    const command = await sandbox.commands.run('read line; echo "got $line"; sleep 1000', {
      background: true,
      stdin: true,
      onStdout: (text) => void received.push(text),
    });
    await sandbox.commands.sendStdin(command.pid, 'hello\n');
    await waitFor(() => received.join('') === 'got hello\n');
    const listed = await sandbox.commands.list();
    expect(listed.find(({ pid }) => pid === command.pid)).toMatchObject({ cmd: '/bin/bash' });
    expect(await command.kill()).toBe(true);
    await expect(command.wait()).rejects.toMatchObject({ exitCode: -1, error: 'signal: SIGKILL' });
    expect(await sandbox.commands.kill(command.pid)).toBe(false);
  });

  it('leaves a command running when its client goes, and follows it again', async () => {
    const first = await sandbox.commands.run('while sleep 0.05; do echo tick; done', { background: true });
    await first.disconnect();
    const ticks: string[] = [];
    const again = await sandbox.commands.connect(first.pid, { onStdout: (text) => void ticks.push(text) });
    await waitFor(() => ticks.length > 0);
    await again.kill();
    await expect(again.wait()).rejects.toMatchObject({ exitCode: -1 });
  });

  it('kills a command at its time limit', async () => {
    await expect(sandbox.commands.run('sleep 1000; echo $$', { timeoutMs: 500 })).rejects.toThrow(TimeoutError);
    await waitFor(
      async () => !(await sandbox.commands.list()).some(({ args }) => args.join().includes('sleep 1000; echo')),
    );
  });

  it('runs a terminal', async () => {
    let text = '';
    const pty = await sandbox.pty.create({
      cols: 90,
      rows: 20,
      onData: (data) => void (text += Buffer.from(data).toString()),
    });
    await sandbox.pty.sendInput(pty.pid, Buffer.from('stty size\n'));
    await waitFor(() => text.includes('20 90'));
    await sandbox.pty.resize(pty.pid, { cols: 70, rows: 21 });
    await sandbox.pty.sendInput(pty.pid, Buffer.from('stty size\n'));
    await waitFor(() => text.includes('21 70'));
    expect(await sandbox.pty.kill(pty.pid)).toBe(true);
  });

  it('writes, reads, lists, renames and removes files', async () => {
    const info = await sandbox.files.write('folder/hello.txt', 'héllo');
    expect(info).toMatchObject({ name: 'hello.txt', path: '/home/user/folder/hello.txt', type: 'file' });
    expect(await sandbox.files.read('folder/hello.txt')).toBe('héllo');
    expect(Buffer.from(await sandbox.files.read('/home/user/folder/hello.txt', { format: 'bytes' }))).toEqual(
      Buffer.from('héllo'),
    );
    await sandbox.files.write([
      { path: 'folder/a', data: 'a' },
      { path: 'folder/sub/b', data: new Blob(['b']) },
    ]);
    const empty = await sandbox.files.write('folder/empty', '');
    expect(empty.path).toBe('/home/user/folder/empty');
    expect(await sandbox.files.read('folder/empty')).toBe('');
    const names = async (depth: number) => (await sandbox.files.list('folder', { depth })).map(({ path }) => path);
    expect(await names(1)).toEqual(['a', 'empty', 'hello.txt', 'sub'].map((name) => `/home/user/folder/${name}`));
    expect(await names(2)).toContain('/home/user/folder/sub/b');
    expect(await sandbox.files.getInfo('folder/a')).toMatchObject({
      size: 1,
      mode: 0o644,
      permissions: '-rw-r--r--',
      owner: 'user',
      group: 'user',
      type: 'file',
      modifiedTime: expect.any(Date),
    });
    expect(await sandbox.files.makeDir('folder/made/deep')).toBe(true);
    expect(await sandbox.files.makeDir('folder/made/deep')).toBe(false);
    expect(await sandbox.files.rename('folder/a', 'other/place/a')).toMatchObject({ path: '/home/user/other/place/a' });
    expect(await sandbox.files.exists('folder/a')).toBe(false);
    await sandbox.files.remove('folder');
    await sandbox.files.remove('folder');
    expect(await sandbox.files.exists('folder')).toBe(false);
    await expect(sandbox.files.read('folder/hello.txt')).rejects.toThrow(FileNotFoundError);
    await expect(sandbox.files.list('/etc/passwd')).rejects.toThrow(InvalidArgumentError);
  });

  it('moves large files as streams, plain and compressed', async () => {
    const data = randomBytes(3 * 1024 * 1024);
    const bytes = new Uint8Array(data).buffer;
    await sandbox.files.write('large', bytes, { useOctetStream: true });
    expect(Buffer.from(await sandbox.files.read('large', { format: 'bytes' })).equals(data)).toBe(true);
    await sandbox.files.write('packed', bytes, { gzip: true });
    expect(Buffer.from(await sandbox.files.read('packed', { format: 'bytes', gzip: true })).equals(data)).toBe(true);
    const stream = await sandbox.files.read('large', { format: 'stream' });
    expect((await buffer(stream)).equals(data)).toBe(true);
  });

  it('reports changes of a folder', async () => {
    await sandbox.files.makeDir('watched/sub');
    const events: string[] = [];
    const handle = await sandbox.files.watchDir('watched', ({ name, type }) => void events.push(`${type} ${name}`), {
      recursive: true,
      timeoutMs: 0,
    });
    await sandbox.commands.run('touch watched/sub/new; mv watched/sub/new watched/moved; rm watched/moved');
    await waitFor(() => events.includes('remove moved'));
    await sandbox.files.write('watched/file', 'one');
    await waitFor(() => events.includes('write file'));
    expect(events.filter((each) => each.endsWith(' file'))).toEqual(['create file', 'chmod file', 'write file']);
    expect(events).toEqual(expect.arrayContaining(['create sub/new', 'rename sub/new', 'create moved']));
    await handle.stop();
    await expect(sandbox.files.watchDir('missing', () => undefined)).rejects.toThrow(FileNotFoundError);
    await expect(sandbox.files.watchDir('/etc/passwd', () => undefined)).rejects.toThrow(InvalidArgumentError);
  });

  it('signs URLs that need neither token nor headers', async () => {
    await sandbox.files.write('signed.txt', 'signed');
    const url = await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: 100 });
    expect(new URL(url).pathname).toBe('/files');
    const read = await fetch(url);
    expect([read.status, await read.text()]).toEqual([200, 'signed']);
    const form = new FormData();
    form.append('file', 'uploaded');
    const upload = await fetch(await sandbox.uploadUrl('up.txt'), { method: 'POST', body: form });
    expect(await upload.json()).toEqual([{ name: 'up.txt', path: '/home/user/up.txt', type: 'file' }]);
    expect(await sandbox.files.read('up.txt')).toBe('uploaded');
    const expired = await fetch(await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: -10 }));
    expect([expired.status, await expired.json()]).toEqual([
      401,
      { code: 401, message: 'signature is already expired' },
    ]);
    const other = await fetch(url.replace('signed.txt', 'up.txt'));
    expect([other.status, await other.json()]).toEqual([401, { code: 401, message: 'invalid signature' }]);
    const written = await fetch(url, { method: 'POST', body: form });
    expect(written.status).toBe(401);
    expect((await fetch(`${platform.url}/files?path=signed.txt`)).status).toBe(401);
  });

  it('lists sandboxes by metadata and state, page by page', async () => {
    const metadata = { group: 'Gr/üße & 1' };
    const made = await Promise.all([1, 2, 3].map(() => Sandbox.create('base', { ...options(), metadata })));
    await made[0]?.pause();
    const list = async (query: object, limit = 2) => {
      const paginator = Sandbox.list({ ...options(), query, limit });
      const ids: string[] = [];
      while (paginator.hasNext) ids.push(...(await paginator.nextItems()).map(({ sandboxId }) => sandboxId));
      return ids.toSorted();
    };
    const ids = made.map(({ sandboxId }) => sandboxId);
    expect(await list({ metadata })).toEqual(ids.toSorted());
    expect(await list({ metadata, state: ['paused'] })).toEqual([ids[0]]);
    expect(await list({ metadata, state: ['running'] })).toEqual(ids.slice(1).toSorted());
    expect(await list({ metadata: { group: 'none' } })).toEqual([]);
    for (const each of made) expect(await each.kill()).toBe(true);
    expect(await list({ metadata })).toEqual([]);
  });

  it('changes the timeout, pauses, connects and kills', async () => {
    const own = await Sandbox.create('base', { ...options(), timeoutMs: 60_000 });
    const endOf = async () => (await own.getInfo()).endAt.getTime() - Date.now();
    expect(await endOf()).toBeLessThan(61_000);
    await own.setTimeout(3_600_000);
    expect(await endOf()).toBeGreaterThan(3_000_000);
    expect(await own.getInfo()).toMatchObject({ state: 'running', templateId: 'debian', cpuCount: 1 });
    await own.files.write('kept', 'kept');
    expect(await own.pause()).toBe(true);
    expect(await own.pause()).toBe(false);
    expect(await own.getInfo()).toMatchObject({ state: 'paused' });
    expect(await own.isRunning()).toBe(false);
    const again = await Sandbox.connect(own.sandboxId, { ...options(), timeoutMs: 120_000 });
    expect(await again.isRunning()).toBe(true);
    expect(await again.files.read('kept')).toBe('kept');
    expect(await endOf()).toBeLessThan(121_000);
    expect(await own.pause({ keepMemory: false })).toBe(true);
    await own.connect();
    expect(await own.files.read('kept')).toBe('kept');
    expect(await own.kill()).toBe(true);
    expect(await own.kill()).toBe(false);
    expect(await own.isRunning()).toBe(false);
    await expect(own.getInfo()).rejects.toThrow(SandboxNotFoundError);
    await expect(Sandbox.connect(own.sandboxId, options())).rejects.toThrow(SandboxNotFoundError);
  });

  it('is gone when its time is over', async () => {
    const own = await Sandbox.create('base', { ...options(), timeoutMs: 3_600_000 });
    await own.setTimeout(1);
    await waitFor(async () => !(await own.isRunning()));
    await expect(own.commands.run('true')).rejects.toThrow();
    expect(await own.kill()).toBe(false);
  });

  it('creates snapshots, and sandboxes from them', async () => {
    await sandbox.files.write('/root/state', 'first');
    const { snapshotId } = await sandbox.createSnapshot();
    const copy = await Sandbox.create(snapshotId, options());
    expect(await copy.files.read('/root/state')).toBe('first');
    const paginator = Sandbox.listSnapshots({ ...options(), sandboxId: sandbox.sandboxId });
    expect((await paginator.nextItems()).map((each) => each.snapshotId)).toEqual([snapshotId]);
    expect(await Sandbox.deleteSnapshot(snapshotId, options())).toBe(true);
    expect(await Sandbox.deleteSnapshot(snapshotId, options())).toBe(false);
    await copy.kill();
  });

  it('forks a sandbox: copies of its files, each with its own time', async () => {
    await sandbox.files.write('/root/state', 'before');
    const forks = await sandbox.fork({ count: 2, timeoutMs: 60_000 });
    await sandbox.files.write('/root/state', 'after');
    expect(forks).toHaveLength(2);
    for (const fork of forks) {
      if (!(fork instanceof Sandbox)) throw fork;
      expect(await fork.files.read('/root/state')).toBe('before');
      expect((await fork.getInfo()).endAt.getTime()).toBeLessThan(Date.now() + 61_000);
      await fork.kill();
    }
    const gone = await Sandbox.create('base', options());
    await gone.kill();
    await expect(gone.fork()).rejects.toThrow(SandboxNotFoundError);
  });

  it('limits the network to hosts and addresses, and changes that later', async () => {
    const own = await Sandbox.create('base', { ...options(), network: { denyOut: ['8.8.8.8'] } });
    const network = async () => (await own.getInfo()).network;
    expect(await network()).toMatchObject({ denyOut: ['8.8.8.8/32'] });
    await own.updateNetwork({ allowOut: ['a.example', '1.1.1.1'], denyOut: ({ allTraffic }) => [allTraffic] });
    expect(await network()).toMatchObject({ allowOut: ['a.example', '1.1.1.1/32'], denyOut: ['0.0.0.0/0'] });
    await own.updateNetwork({});
    expect(JSON.stringify(await network())).not.toContain('/');
    await own.kill();
    const offline = await Sandbox.create('base', { ...options(), allowInternetAccess: false });
    expect((await offline.getInfo()).allowInternetAccess).toBe(false);
    await offline.updateNetwork({ allowInternetAccess: true });
    expect((await offline.getInfo()).allowInternetAccess).toBe(true);
    await offline.kill();
  });

  it('tells whether a template exists', async () => {
    for (const [name, exists] of [
      ['base', true],
      ['busybox', true],
      ['missing', false],
    ] as const) {
      expect(await Template.exists(name, options()), name).toBe(exists);
    }
  });

  it('reads files that do not say their size', async () => {
    expect(await sandbox.files.read('/proc/meminfo')).toMatch(/^MemTotal: +\d+ kB$/m);
    expect(await sandbox.files.read('/proc/self/environ', { user: 'root' })).not.toBe('');
    await sandbox.files.write('empty', '');
    expect(await sandbox.files.read('empty')).toBe('');
  });

  it('has a boot ID of its own, which lasts through a pause and changes with a restart', async () => {
    const own = await Sandbox.create('base', options());
    const path = '/proc/sys/kernel/random/boot_id';
    const first = await own.files.read(path);
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/);
    expect(first).not.toBe(readFileSync(path, 'utf8'));
    const change = `echo x > ${path}; mount -o remount,rw ${path}; umount ${path}; rm -f ${path}`;
    await own.commands.run(change, { user: 'root' }).catch(() => undefined);
    expect(await own.files.read(path)).toBe(first);
    expect((await own.commands.run('ls -A /dev')).stdout).not.toContain('boot_id');
    await own.pause();
    await own.connect();
    expect(await own.files.read(path)).toBe(first);
    await own.pause({ keepMemory: false });
    await own.connect();
    expect(await own.files.read(path)).not.toBe(first);
    await own.kill();
  });

  it('finds the sandbox by its token alone, as clients up to 2.10 ask for files', async () => {
    const { body } = await platform.call('GET', `/e2b/sandboxes/${sandbox.sandboxId}`);
    const token = String(body['envdAccessToken']);
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${platform.url}/e2b/envd/files?path=/etc/hostname`, { headers });
    expect((await ask({ 'x-access-token': token })).status).toBe(200);
    const forged = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    expect((await ask({ 'x-access-token': forged })).status).toBe(401);
  });

  it('acts as the user `user`, or as the one that is named', async () => {
    const whoami = async (user?: string) =>
      (await sandbox.commands.run('id -un; pwd; echo $HOME', user === undefined ? {} : { user })).stdout;
    expect(await whoami()).toBe('user\n/home/user\n/home/user\n');
    expect(await whoami('root')).toBe('root\n/root\n/root\n');
    expect(await whoami('daemon')).toMatch(/^daemon\n/);
    await expect(whoami('nobody-here')).rejects.toThrow('nobody-here');
    await sandbox.files.write('mine', 'x', { user: 'root' });
    expect(await sandbox.files.getInfo('/root/mine')).toMatchObject({ owner: 'root' });
    await sandbox.files.write('new/folder/mine', 'x');
    expect(await sandbox.files.getInfo('new/folder')).toMatchObject({ owner: 'user', path: '/home/user/new/folder' });
    await expect(sandbox.commands.run('cat /root/mine')).rejects.toMatchObject({ exitCode: 1 });
    await expect(sandbox.commands.run('touch /root/mine')).rejects.toMatchObject({ exitCode: 1 });
    const relative = await sandbox.commands.run('pwd', { cwd: 'new' });
    expect(relative.stdout).toBe('/home/user/new\n');
  });

  it('tells a running command that its sandbox was killed', async () => {
    const own = await Sandbox.create('base', options());
    const command = await own.commands.run('sleep 1000', { background: true });
    await own.kill();
    await expect(command.wait()).rejects.toThrow('sandbox was killed or reached its end of life');
  });

  it('runs commands in an image without bash', async () => {
    const own = await Sandbox.create('busybox', options());
    expect((await own.commands.run('echo $0; id -un')).stdout).toBe('/bin/sh\nuser\n');
  });

  it('keeps metadata with a file, through moves and until it is written again', async () => {
    const metadata = { author: 'ann', 'content-kind': 'a b=c' };
    expect(await sandbox.files.write('tagged', 'x', { metadata })).toMatchObject({ metadata });
    expect(await sandbox.files.getInfo('tagged')).toMatchObject({ metadata });
    await sandbox.files.rename('tagged', 'moved');
    const listed = await sandbox.files.list('.');
    expect(listed.find(({ name }) => name === 'moved')).toMatchObject({ metadata });
    await sandbox.files.write('moved', 'y');
    expect((await sandbox.files.getInfo('moved')).metadata).toBe(undefined);
    const long = { author: 'x'.repeat(5000) };
    await expect(sandbox.files.write('tagged', 'x', { metadata: long })).rejects.toThrow(InvalidArgumentError);
  });

  it('reports changes with their entries', async () => {
    await sandbox.files.makeDir('entries');
    const seen: unknown[] = [];
    const handle = await sandbox.files.watchDir('entries', ({ name, entry }) => void seen.push({ name, ...entry }), {
      includeEntry: true,
      timeoutMs: 0,
    });
    await sandbox.files.write('entries/file', 'text');
    await waitFor(() => seen.length > 0);
    expect(seen[0]).toMatchObject({ name: 'file', path: '/home/user/entries/file', size: 4, owner: 'user' });
    await handle.stop();
  });

  it('pauses at the end of its timeout, and resumes on use only if that was asked for', async () => {
    const own = await Sandbox.create('base', { ...options(), lifecycle: { onTimeout: 'pause' } });
    const waking = await Sandbox.create('base', { ...options(), lifecycle: { onTimeout: 'pause', autoResume: true } });
    for (const each of [own, waking]) {
      await each.files.write('kept', 'kept');
      await each.setTimeout(1);
    }
    await waitFor(async () => !(await own.isRunning()) && !(await waking.isRunning()));
    const lifecycle = { onTimeout: 'pause', autoResume: false };
    expect(await own.getInfo()).toMatchObject({ state: 'paused', lifecycle });
    await expect(own.files.read('kept')).rejects.toThrow();
    await own.connect();
    expect(await own.files.read('kept')).toBe('kept');
    expect(await waking.files.read('kept')).toBe('kept');
    expect((await waking.getInfo()).endAt.getTime()).toBeLessThan(Date.now() + 301_000);
    await own.kill();
    await waking.kill();
  });
});
