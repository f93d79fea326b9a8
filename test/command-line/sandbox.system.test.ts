import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlatformStatus } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCommandStore, type CommandStore } from './command-store.ts';
import type { CommandLine } from './command-line.ts';

interface Sandbox {
  id: string;
  name: string;
  status: string;
}

describeRequiring(['linux', 'root'], 'svc sandbox', () => {
  let store: CommandStore;
  let svc: CommandLine;
  beforeAll(async () => {
    store = await startCommandStore();
    ({ svc } = store);
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'box', '--env', 'COLOR=blue', '--label', 'use=tests']);
  });
  afterAll(async () => {
    await svc.run(['sandbox', 'rm', '--all']);
    await store[Symbol.asyncDispose]();
  });

  it('creates, lists, shows, stops, starts and deletes', async () => {
    const made = await svc.json<Sandbox>(['sandbox', 'create', 'busybox', '--name', 'other']);
    expect(made).toMatchObject({ name: 'other', status: 'running' });
    expect((await svc.json<Sandbox[]>(['sandbox', 'ls'])).map(({ name }) => name)).toEqual(['other', 'box']);
    expect(await svc.answer(['sandbox', 'ls', '--label', 'use=tests', '-q'])).toMatch(/^sbx_[a-z2-7]{26}\n$/);
    expect(await svc.answer(['sandbox', 'get', made.id])).toMatch(/^Name +other$/m);
    expect(await svc.answer(['sandbox', 'stop', 'other'])).toBe('other is stopped\n');
    expect(await svc.run(['sandbox', 'exec', 'other', 'true'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not running: its status is stopped (svc sandbox start starts it)'),
    });
    expect(await svc.answer(['sandbox', 'start', 'other'])).toBe('other is running\n');
    expect(await svc.answer(['sandbox', 'rm', 'other'])).toBe('Deleted other\n');
    expect(await svc.run(['sandbox', 'get', 'other'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('sandbox other not found (run svc sandbox ls'),
    });
  });

  it('lists the accepted image names, and accepts those of other API clients', async () => {
    const refused = await svc.run(['sandbox', 'create', 'no-such-image']);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('svc sandbox images lists') });
    expect((await svc.run(['sandbox', 'create'])).exitCode).toBe(2);
    // Each error is reported once, with the field's name.
    const small = await svc.run(['sandbox', 'create', 'busybox', '--memory', '1']);
    expect(small).toMatchObject({ exitCode: 1, stderr: 'svc: Invalid request: resources.memory_mb must be >= 32\n' });
    const unpaired = await svc.run(['sandbox', 'create', 'busybox', '--env', 'COLOR']);
    expect(unpaired).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"COLOR" is not a valid variable') });
    const { url, token } = store.platform.ready;
    const other = svc.with({ SVC_URL: '', SVC_TOKEN: '', SANDBOX_URL: url, SANDBOX_TOKEN: token });
    expect(await other.answer(['sandbox', 'images'])).toMatch(/^busybox +yes/m);
  });

  it('reports the isolation of sandboxes in the platform status, and why the kernel is shared', async () => {
    const { services } = await svc.json<PlatformStatus>(['status']);
    const { isolation, isolation_reason: reason, shares_kernel: shares } = services.sandboxes;
    expect(shares).toBe(isolation === 'namespaces');
    const words = reason === null ? 'isolated by gVisor' : `sharing the host's kernel: ${reason}`;
    const lines = (await svc.answer(['status'])).split('\n');
    expect(lines.find((line) => line.startsWith('sandboxes'))).toMatch(
      new RegExp(`^sandboxes +on +1 of 1 running, ${words}$`),
    );
  });

  it('changes labels and expiry', async () => {
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'renewed', '--label', 'team=web', '--lifetime', '1h']);
    const update = (...args: string[]) => svc.answer(['sandbox', 'update', 'renewed', ...args]);
    expect(await update('--label', 'stage=test', '--remove-label', 'team', '--keep')).toBe(
      'Expires: never\nLabels: stage=test\n',
    );
    const [, until] = /^Expires: (\S+)$/m.exec(await update('--lifetime', '2h')) ?? [];
    expect(new Date(until ?? '').getTime()).toBeGreaterThan(Date.now() + 6_000_000);
    const tooLong = await svc.run(['sandbox', 'update', 'renewed', '--label', 'stage=other', '--lifetime', '999d']);
    expect(tooLong.exitCode).not.toBe(0);
    expect(await svc.answer(['sandbox', 'get', 'renewed'])).toContain('stage=test'); // both changes, or neither
    expect(await svc.run(['sandbox', 'update', 'renewed'])).toMatchObject({
      stderr: expect.stringContaining('nothing to change'),
    });
    await svc.answer(['sandbox', 'rm', 'renewed']);
  });

  it('runs a command with stdin, separate outputs and the exit code', async () => {
    const script = 'cat; echo "$COLOR $SHAPE" >&2; pwd; exit 5';
    const args = ['sandbox', 'exec', '--cwd', '/tmp', '-e', 'SHAPE=round', 'box', '--', 'sh', '-c', script];
    const { exitCode, stdout, stderr } = await svc.run(args, { input: 'typed\n' });
    expect({ exitCode, stdout: stdout.toString(), stderr }).toEqual({
      exitCode: 5,
      stdout: 'typed\n/tmp\n',
      stderr: 'blue round\n',
    });
    // The command's options are its own.
    expect((await svc.run(['sandbox', 'exec', 'box', 'uname', '--version'])).stderr).toContain('BusyBox');
    expect(
      JSON.parse((await svc.run(['sandbox', 'exec', '--json', 'box', 'echo a; exit 3'])).stdout.toString()),
    ).toEqual(expect.objectContaining({ stdout: 'a\n', stderr: '', exit_code: 3, timed_out: false }));
  });

  it('runs a command as a user of the image, streamed or not', async () => {
    const asNobody = ['sandbox', 'exec', '-u', '65534', 'box', 'id -u'];
    expect(await svc.answer(asNobody)).toBe('65534\n');
    expect(JSON.parse(await svc.answer([...asNobody.slice(0, 2), '--json', ...asNobody.slice(2)]))).toMatchObject({
      stdout: '65534\n',
    });
    const { exitCode, stderr } = await svc.run(['sandbox', 'exec', '-u', 'nosuch', 'box', 'id -u']);
    expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining('no user nosuch')]);
  });

  it('ends a command at its timeout and on Ctrl-C', async () => {
    expect((await svc.run(['sandbox', 'exec', '--timeout', '1s', 'box', 'sleep', '600'])).exitCode).toBe(124);
    const running = svc.start(['sandbox', 'exec', '--no-stdin', 'box', 'echo begun; exec sleep 600']);
    running.child.stdout?.once('data', () => running.child.kill('SIGINT'));
    expect((await running.ended).exitCode).toBe(130);
    expect(await svc.answer(['sandbox', 'exec', 'box', 'ps'])).not.toContain('sleep');
  });

  it('pipes ten million bytes through a command in both directions', async () => {
    const bytes = Buffer.alloc(10_000_000, 'abcdefghij');
    const { stdout } = await svc.run(['sandbox', 'exec', 'box', 'cat'], { input: bytes });
    expect(stdout.equals(bytes)).toBe(true);
  });

  it('copies files and folders in and out with their permissions, and skips links', async () => {
    const folder = join(store.folder, 'tree');
    await mkdir(join(folder, 'sub/empty'), { recursive: true });
    await writeFile(join(folder, 'run.sh'), 'echo ran\n');
    await chmod(join(folder, 'run.sh'), 0o755);
    await writeFile(join(folder, 'sub/a b'), 'deep');
    await symlink('/etc/passwd', join(folder, 'link'));
    const { stderr } = await svc.run(['sandbox', 'cp', '-r', 'tree', 'box:/srv/']);
    expect(stderr).toMatch(/left out .*link/);
    expect(await svc.answer(['sandbox', 'exec', 'box', '/srv/tree/run.sh'])).toBe('ran\n');
    await svc.answer(['sandbox', 'exec', 'box', 'ln -s /etc/passwd /srv/tree/sub/out']);
    await svc.answer(['sandbox', 'cp', '-r', '-q', 'box:/srv/tree', 'back']);
    const back = join(store.folder, 'back');
    expect(await readFile(join(back, 'sub/a b'), 'utf8')).toBe('deep');
    expect((await stat(join(back, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(back, 'sub/empty'))).isDirectory()).toBe(true);
    await expect(stat(join(back, 'sub/out'))).rejects.toThrow('ENOENT');
  });

  it('copies stdin and stdout, and explains invalid names', async () => {
    await svc.answer(['sandbox', 'cp', '-', 'box:/root/piped'], { input: 'piped' });
    expect(await svc.answer(['sandbox', 'cp', 'box:/root/piped', '-'])).toBe('piped');
    expect((await svc.run(['sandbox', 'cp', 'tree', 'box:/x'])).stderr).toContain('is a folder (use -r to copy it)');
    expect((await svc.run(['sandbox', 'cp', 'a', 'b'])).exitCode).toBe(2);
    expect(await svc.run(['sandbox', 'cp', 'gone', 'box:/x'])).toMatchObject({
      exitCode: 1,
      stderr: 'svc: there is no file gone\n',
    });
    expect((await svc.run(['sandbox', 'cp', 'box:/none', 'here'])).stderr).toContain(
      'No such file or directory: /none',
    );
  });

  it('pauses and resumes, and lists events', async () => {
    expect(await svc.answer(['sandbox', 'pause', 'box'])).toBe('box is paused\n');
    expect(await svc.answer(['sandbox', 'ls', '--status', 'running'])).toMatch(/^box .* paused +busybox/m);
    expect(await svc.answer(['sandbox', 'resume', 'box'])).toBe('box is running\n');
    const following = svc.start(['sandbox', 'events', 'box', '--after', '0', '--json']);
    const seen: string[] = [];
    following.child.stdout?.on('data', (bytes: Buffer) => seen.push(bytes.toString()));
    await expect.poll(() => seen.join('')).toMatch(/"type":"created".*"type":"paused".*"type":"resumed"/s);
    following.child.kill('SIGINT');
    expect((await following.ended).exitCode).toBe(130);
  });

  it('creates a URL for a port, and revokes it', async () => {
    await svc.answer(['sandbox', 'exec', 'box', 'mkdir -p /www; echo served >/www/index.html; httpd -p 8000 -h /www']);
    const { path_url: url } = await svc.json<{ path_url: string }>([
      'sandbox',
      'ports',
      'box',
      '8000',
      '--expires',
      '5m',
    ]);
    expect(await (await fetch(url)).text()).toBe('served\n');
    expect(await svc.answer(['sandbox', 'ports', 'box'])).toMatch(/^8000 /m);
    expect(await svc.answer(['sandbox', 'ports', 'box', '8000', '--close'])).toBe('Revoked 1 link\n');
    expect((await fetch(url)).ok).toBe(false);
  });

  it('shows what a sandbox can reach, and replaces it', async () => {
    const egress = (...flags: string[]) => svc.answer(['sandbox', 'egress', 'box', ...flags]);
    expect(await egress()).toBe('All public addresses\n');
    expect(await egress('--allow', 'a.example,192.0.2.1', '--allow', '*.b.example')).toBe(
      'a.example\n192.0.2.1/32\n*.b.example\n',
    );
    expect(await egress('--none')).toBe('Nothing\n');
    expect((await svc.run(['sandbox', 'egress', 'box', '--allow', 'a b'])).stderr).toContain('egress_allow[0]');
    expect((await svc.run(['sandbox', 'egress', 'box', '--all', '--none'])).exitCode).toBe(2);
    expect(await egress('--all')).toBe('*\n0.0.0.0/0\n');
  });

  it('refuses a cluster that is not connected', async () => {
    const refused = await svc.run(['sandbox', 'create', 'busybox', '--cluster', 'none']);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('Cluster none not found')]);
  });

  it('mounts volumes, which keep their files', async () => {
    expect(await svc.answer(['volume', 'create', 'data', '--size', '64'])).toMatch(/^Created volume data of 64 MiB\n/);
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'writer', '--volume', 'data:/data']);
    await svc.answer(['sandbox', 'exec', 'writer', 'echo kept >/data/file']);
    expect(await svc.answer(['sandbox', 'get', 'writer'])).toMatch(/^Volumes +data at \/data$/m);
    expect(await svc.answer(['volume', 'ls'])).toMatch(/^data +64 MiB +writer +/m);
    const { id } = await svc.json<{ id: string }>(['volume', 'snapshot', 'create', 'data', '--name', 'one']);
    expect(await svc.answer(['volume', 'snapshot', 'ls', '--of', 'data'])).toMatch(new RegExp(`^${id} +one `, 'm'));
    await svc.answer(['volume', 'create', 'copy', '--snapshot', id]);
    await svc.answer(['sandbox', 'create', 'busybox', '--name', 'reader', '--volume', 'copy:/data:ro']);
    expect(await svc.answer(['sandbox', 'exec', 'reader', 'cat /data/file'])).toBe('kept\n');
    expect((await svc.run(['sandbox', 'exec', 'reader', 'rm /data/file'])).stderr).toContain('Read-only');
    const used = await svc.run(['volume', 'rm', 'data']);
    expect([used.exitCode, used.stderr]).toEqual([1, expect.stringContaining('the sandbox writer mounts it')]);
    await svc.answer(['sandbox', 'rm', 'writer', 'reader']);
    expect(await svc.answer(['volume', 'resize', 'data', '128'])).toBe('Volume data has 128 MiB\n');
    expect(await svc.answer(['volume', 'rm', 'data', 'copy'])).toBe('Deleted volume data\nDeleted volume copy\n');
    expect(await svc.answer(['volume', 'snapshot', 'rm', id])).toBe(`Deleted snapshot ${id}\n`);
  });

  it('copies a sandbox by snapshots and forks', async () => {
    await svc.answer(['sandbox', 'exec', 'box', 'echo kept >/root/kept']);
    const { id } = await svc.json<{ id: string }>(['sandbox', 'snapshot', 'create', 'box', '--name', 'one']);
    expect(await svc.answer(['sandbox', 'snapshot', 'ls'])).toMatch(new RegExp(`^${id} +one +busybox `, 'm'));
    expect(await svc.answer(['sandbox', 'snapshots', '--of', 'box'])).toContain(id);
    await svc.answer(['sandbox', 'create', '--snapshot', id, '--name', 'second']);
    expect(await svc.answer(['sandbox', 'snapshots', '--of', 'second'])).toBe('');
    expect(await svc.answer(['sandbox', 'fork', 'box', '--name', 'third'])).toMatch(/^third \(sbx_.*\) is running$/m);
    for (const name of ['second', 'third']) {
      expect(await svc.answer(['sandbox', 'exec', name, 'cat /root/kept'])).toBe('kept\n');
    }
    const wrong = await svc.run(['sandbox', 'fork', 'box', '--mounts', 'other']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('fork or share')]);
    expect(await svc.json(['sandbox', 'rm', 'third', '--drop-data'])).toMatchObject({ failed: 0 });
    expect(await svc.answer(['sandbox', 'snapshot', 'rm', id])).toBe(`Deleted snapshot ${id}\n`);
  });
});
