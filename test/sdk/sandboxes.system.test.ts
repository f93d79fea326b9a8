import { join } from 'node:path';
import {
  createClient,
  createSandboxClient,
  NotFoundError,
  type FileChange,
  type Sandbox,
  type SvcClient,
} from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { startCutProxy } from './cut-proxy.ts';

const MiB = 1024 * 1024;

describeRequiring(['linux', 'root'], 'the SDK’s sandbox client', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let svc: SvcClient;
  let sandbox: Sandbox;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-sdk-sandboxes-');
    platform = await startPlatform({ dataFolder: join(folder.path, 'data') });
    svc = clientAt(platform.ready.url);
    sandbox = await svc.sandboxes.create({ image: 'busybox', name: 'box' });
  });
  afterAll(async () => {
    for await (const each of svc.sandboxes.list()) await each.delete();
    await platform.stop();
    await folder.remove();
  });
  const clientAt = (baseUrl: string): SvcClient =>
    createClient({ baseUrl, credential: { kind: 'token', token: platform.ready.token } });

  it('reads SANDBOX_URL and SANDBOX_TOKEN, and names the missing one', async () => {
    vi.stubEnv('SANDBOX_URL', platform.ready.url);
    expect(() => createSandboxClient()).toThrow('SANDBOX_TOKEN is not set');
    vi.stubEnv('SANDBOX_TOKEN', platform.ready.token);
    expect((await createSandboxClient().containers.get(sandbox.id)).name).toBe('box');
    vi.unstubAllEnvs();
  });

  it('leaves no half-created sandbox when an image is unavailable', async () => {
    await expect(svc.sandboxes.create({ image: 'no-such-image' })).rejects.toMatchObject({
      status: 400,
      code: 'UNKNOWN_IMAGE',
    });
    const same = { idempotencyKey: 'once' };
    const [first, second] = [
      await svc.sandboxes.create({ image: 'busybox' }, same),
      await svc.sandboxes.create({ image: 'busybox' }, same),
    ];
    expect(second.id).toBe(first.id);
    await first.delete();
    await expect(first.get()).rejects.toBeInstanceOf(NotFoundError);
  });

  it('lists and signals processes, runs as another user, and changes the expiry', async () => {
    const sleeping = sandbox.run(['sleep', '1000']);
    await vi.waitFor(async () => expect(await sandbox.processes()).toHaveLength(1));
    const [process] = await sandbox.processes();
    expect(process).toMatchObject({ argv: ['sleep', '1000'], tty: false });
    await sandbox.signal(process?.pid ?? 0, 'SIGKILL');
    expect(await sleeping).toMatchObject({ signal: 'SIGKILL' });
    expect(await sandbox.processes()).toEqual([]);
    await expect(sandbox.signal(process?.pid ?? 0, 'SIGKILL')).rejects.toBeInstanceOf(NotFoundError);
    await expect(sandbox.run('id -u', { user: 'missing' })).rejects.toMatchObject({
      code: 'USER_NOT_FOUND',
    });
    expect((await sandbox.expireIn(3600)).expires_at).not.toBeNull();
    expect((await sandbox.expireIn(null)).expires_at).toBeNull();
  });

  it('runs a command by the exec route, and on the raw terminal without that route', async () => {
    const send: typeof fetch = (input, init) => {
      const isExec = typeof input === 'string' && input.endsWith('/exec');
      return isExec ? Promise.resolve(Response.json({ error: 'no such route' }, { status: 404 })) : fetch(input, init);
    };
    const { url: baseUrl, token } = platform.ready;
    const plain = createClient({ baseUrl, credential: { kind: 'token', token }, fetch: send });
    for (const each of [sandbox, plain.sandboxes.of(sandbox.id)]) {
      expect(
        await each.run('cat; printf "\\001\\033[0m" >&2; exit 3', { stdin: 'typed', env: { A: 'b' } }),
      ).toMatchObject({
        stdout: 'typed',
        stderr: '\u0001\u001b[0m',
        exitCode: 3,
        timedOut: false,
      });
      expect(await each.run(['sleep', '600'], { limitMs: 1000 })).toMatchObject({ exitCode: -1, timedOut: true });
    }
  });

  it('delivers output while a command runs, and waits for slow readers', async () => {
    const pieces: string[] = [];
    // The command continues only after its first line was received.
    await sandbox.run('echo one; until [ -e /tmp/heard ]; do sleep 0.05; done; echo two >&2', {
      onStdout: async (bytes) => {
        pieces.push(new TextDecoder().decode(bytes));
        await sandbox.files.write('/tmp/heard', '');
      },
      onStderr: (bytes) => void pieces.push(`! ${new TextDecoder().decode(bytes)}`),
    });
    expect(pieces).toEqual(['one\n', '! two\n']);
  });

  it('receives no more output than it consumes', async () => {
    const terminal = await sandbox.spawn(['head', '-c', String(40 * MiB), '/dev/zero']);
    const gate = Promise.withResolvers<void>();
    let receivedBytes = 0;
    terminal.onData(async ({ bytes }) => {
      receivedBytes += bytes.length;
      await gate.promise;
    });
    await expect.poll(() => receivedBytes).toBeGreaterThan(0);
    const { stdout } = await sandbox.run('pgrep head || ps | grep -c "[h]ead -c"');
    expect(stdout.trim()).not.toBe('0'); // it waits
    expect(receivedBytes).toBeLessThan(MiB);
    gate.resolve();
    expect(await terminal.ended).toEqual({ exitCode: 0, signal: null });
    expect(receivedBytes).toBe(40 * MiB);
  });

  it('resumes a session after a lost connection', async () => {
    await using proxy = await startCutProxy(platform.ready.url);
    const terminal = await clientAt(proxy.url).sandboxes.of(sandbox.id).terminal({ session: 'new', cols: 200 });
    let text = '';
    const states: string[] = [];
    terminal.onState((state) => states.push(state));
    terminal.onData(({ bytes }) => {
      text += new TextDecoder().decode(bytes);
    });
    await terminal.write('stty -echo; for i in $(seq 1 60); do echo "line $i"; sleep 0.05; done; exit 5\n');
    for (const line of ['line 5\r', 'line 25\r', 'line 45\r']) {
      await expect.poll(() => text).toContain(line);
      proxy.cut();
    }
    expect(await terminal.ended).toMatchObject({ exit: { exitCode: 5 }, code: 1000 });
    const lines = [...text.matchAll(/^line (\d+)\r$/gm)].map(([, number]) => Number(number));
    expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(states).toContain('reconnecting');
  });

  it('works with another WebSocket implementation', async () => {
    const { url: baseUrl, token } = platform.ready;
    const other = createClient({
      baseUrl,
      credential: { kind: 'token', token },
      openSocket: ({ url, protocols, headers }) => new WebSocket(url, protocols, { headers }),
    });
    const started = await other.sandboxes.of(sandbox.id).spawn('cat; exit 2');
    let text = '';
    started.onData(({ bytes }) => {
      text += new TextDecoder().decode(bytes);
    });
    await started.write('typed');
    started.finishInput();
    expect(await started.ended).toEqual({ exitCode: 2, signal: null });
    expect(text).toBe('typed');
  });

  it('reports terminal errors like those of any other call', async () => {
    const stranger = createClient({ baseUrl: platform.ready.url, credential: { kind: 'token', token: 'wrong' } });
    await expect(stranger.sandboxes.of(sandbox.id).terminal()).rejects.toMatchObject({ status: 401 });
    await expect(svc.sandboxes.of('sbx_aaaaaaaaaaaaaaaaaaaaaaaaaa').terminal()).rejects.toMatchObject({ status: 404 });
    for (const wish of [{ since: 7 }, { readOnly: true }]) {
      const joining = sandbox.terminal({ session: 'gone', ...wish });
      await expect(joining).rejects.toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    }
    await expect(sandbox.terminal({ session: 'two words' })).rejects.toMatchObject({ status: 400 });
    expect(await (await sandbox.spawn(['no-such-program'])).ended).toMatchObject({ exitCode: 127 });
  });

  it('transfers folders as archives, and watches one', async () => {
    const { etag } = await sandbox.files.write('/srv/tree/a', 'something');
    const refused = { code: 'PRECONDITION_FAILED', status: 412 };
    await expect(sandbox.files.write('/srv/tree/a', 'x', { ifAbsent: true })).rejects.toMatchObject(refused);
    await sandbox.files.write('/srv/tree/a', 'content of a', { ifMatch: etag });
    await expect(sandbox.files.write('/srv/tree/a', 'x', { ifMatch: etag })).rejects.toMatchObject(refused);
    const { body } = await sandbox.files.downloadArchive('/srv/tree');
    expect(await sandbox.files.uploadArchive('/srv/copy', body)).toMatchObject({ path: '/srv/copy' });
    expect((await sandbox.run('find /srv/copy -type f -name a | wc -l')).stdout.trim()).toBe('1');

    const stop = new AbortController();
    const seen: FileChange[] = [];
    const watching = (async () => {
      for await (const change of sandbox.files.watch('/srv/tree', { recursive: true, signal: stop.signal })) {
        seen.push(change);
        if (change.kind === 'watching') await sandbox.run('echo x >/srv/tree/b; rm /srv/tree/a');
        if (change.kind === 'removed') break;
      }
    })();
    await watching;
    expect(seen.map((change) => change.kind)).toEqual(expect.arrayContaining(['watching', 'created', 'removed']));
    expect(seen.find(({ kind }) => kind === 'removed')).toMatchObject({ path: '/srv/tree/a' });
  });

  it('reports events, across lost connections, until the sandbox is deleted', async () => {
    await using proxy = await startCutProxy(platform.ready.url);
    const made = await svc.sandboxes.create({ image: 'busybox' });
    const types: string[] = [];
    const followed = (async () => {
      for await (const { type } of clientAt(proxy.url).sandboxes.of(made.id).events({ after: 0 })) types.push(type);
    })();
    await expect.poll(() => types).toEqual(['created', 'running']);
    proxy.cut();
    expect((await made.pause()).paused_at).not.toBeNull();
    expect((await made.resume()).paused_at).toBeNull();
    await expect.poll(() => types).toEqual(['created', 'running', 'paused', 'resumed']);
    expect((await made.eventPage({ pageSize: 2 })).items.map(({ type }) => type)).toEqual(['resumed', 'paused']);
    expect((await made.metrics()).current.memory_limit_bytes).toBe(512 * MiB);
    await made.delete();
    await followed;
    expect(types.at(-1)).toBe('deleted');
  });

  it('copies a sandbox with its files, by a snapshot and by forks', async () => {
    await sandbox.files.write('/srv/kept', 'as it was');
    const snapshot = await sandbox.snapshot({ name: 'before' });
    await sandbox.files.write('/srv/kept', 'changed');
    const made = await svc.sandboxes.create({ snapshot_id: snapshot.id });
    expect(await made.files.readText('/srv/kept')).toBe('as it was');
    const forks = await sandbox.fork({ count: 2 });
    expect(await Promise.all(forks.map(({ files }) => files.readText('/srv/kept')))).toEqual(['changed', 'changed']);
    for await (const each of svc.sandboxes.snapshots.list()) expect(each).toEqual(snapshot);
    const ofAnother = svc.sandboxes.snapshots.list({ sandboxId: 'sbx_another' });
    expect(await ofAnother.next()).toEqual({ done: true, value: undefined });
    await svc.sandboxes.snapshots.delete(snapshot.id);
    await expect(svc.sandboxes.snapshots.get(snapshot.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});
