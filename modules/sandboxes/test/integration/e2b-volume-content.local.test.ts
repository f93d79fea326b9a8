import { setTimeout } from 'node:timers/promises';
import { skippedTitle, type FakeCaller } from '@svc/testing';
import { AuthenticationError, Sandbox, Volume, VolumeError, VolumePathNotFoundError } from 'e2b';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'the content of volumes of the E2B SDK';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let volume: Volume;
  let made = 0;
  const optionsOf = (caller: { readonly token: string } = platform.owner) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: caller.token,
    validateApiKey: false,
  });
  /** For the methods of a volume, instead of `E2B_VOLUME_API_URL`. */
  const content = () => ({ apiUrl: `${platform.url}/e2b` });
  const ask = (path: string, token: string, init: RequestInit = {}) =>
    fetch(`${platform.url}/e2b/volumecontent/${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox', config: { max_per_caller: 100 } });
  });
  afterAll(() => platform.dispose());
  beforeEach(async () => {
    volume = await Volume.create(`data-${(made += 1)}`, optionsOf());
  });

  it('is written and read in every form, without a sandbox', async () => {
    const stat = await volume.writeFile('/text', 'Hello', content());
    expect(stat).toMatchObject({ name: 'text', type: 'file', path: '/text', size: 5, mode: 0o644, uid: 0, gid: 0 });
    for (const time of [stat.atime, stat.mtime, stat.ctime]) expect(time.getTime()).toBeGreaterThan(0);
    expect(await volume.readFile('text', content())).toBe('Hello');
    await volume.writeFile('/text', new Blob(['over']), content());
    expect(await (await volume.readFile('/text', { ...content(), format: 'blob' })).text()).toBe('over');
    await volume.writeFile('/stream', new Blob(['a', 'b']).stream(), content());
    const stream = await volume.readFile('/stream', { ...content(), format: 'stream' });
    expect(await new Response(stream).text()).toBe('ab');
    await volume.writeFile('/empty', '', content());
    expect(await volume.readFile('/empty', { ...content(), format: 'bytes' })).toEqual(new Uint8Array());
    const large = new Uint8Array(20 * 1024 * 1024).map((_, index) => index % 251);
    await volume.writeFile('/large', large.buffer, content());
    expect(Buffer.from(await volume.readFile('/large', { ...content(), format: 'bytes' })).equals(large)).toBe(true);
  });

  it('has owners and modes, and is overwritten unless the client forbids it', async () => {
    const owner = { uid: 1000, gid: 1001, mode: 0o640 };
    expect(await volume.writeFile('/file', '1', { ...content(), ...owner })).toMatchObject(owner);
    expect(await volume.writeFile('/file', '2', { ...content(), force: true })).toMatchObject(owner);
    await expect(volume.writeFile('/file', '3', { ...content(), force: false })).rejects.toThrow(
      /already exists|exists/,
    );
    expect(await volume.readFile('/file', content())).toBe('2');
    expect(await volume.updateMetadata('/file', { uid: 7, mode: 0o755 }, content())).toMatchObject({
      uid: 7,
      gid: 1001,
      mode: 0o755,
    });
    await expect(volume.updateMetadata('/none', { mode: 0o644 }, content())).rejects.toThrow(VolumePathNotFoundError);
    await expect(volume.updateMetadata('/file', { uid: 70_000 }, content())).rejects.toThrow(VolumeError);
    expect(await volume.makeDir('/folder', { ...content(), ...owner, mode: 0o777 })).toMatchObject({
      ...owner,
      mode: 0o777,
      type: 'directory',
    });
  });

  it('has folders', async () => {
    await expect(volume.makeDir('/a/b', content())).rejects.toThrow(VolumePathNotFoundError);
    await volume.makeDir('/a/b', { ...content(), force: true });
    await volume.makeDir('/a/b', { ...content(), force: true });
    await expect(volume.makeDir('/a/b', { ...content(), force: false })).rejects.toThrow(VolumeError);
    await expect(volume.writeFile('/c/file', '', content())).rejects.toThrow(VolumePathNotFoundError);
    await volume.writeFile('/a/b/file', 'x', content());
    expect((await volume.list('/', content())).map(({ path }) => path)).toEqual(['/a']);
    const deep = await volume.list('a', { ...content(), depth: 2 });
    expect(deep.map(({ path, type }) => [path, type])).toEqual([
      ['/a/b', 'directory'],
      ['/a/b/file', 'file'],
    ]);
    await expect(volume.list('/none', content())).rejects.toThrow(VolumePathNotFoundError);
    expect(await volume.exists('/a/b/file', content())).toBe(true);
    await volume.remove('/a', content());
    expect(await volume.exists('/a', content())).toBe(false);
    await expect(volume.remove('/a', content())).rejects.toThrow(VolumePathNotFoundError);
    await expect(volume.remove('/', content())).rejects.toThrow(VolumeError);
    expect(await volume.list('/', content())).toEqual([]);
    expect(await volume.getInfo('/', content())).toMatchObject({ path: '/', type: 'directory', mode: 0o777 });
  });

  it('lists folders that need many pages', async () => {
    const sandbox = await Sandbox.create('busybox', { ...optionsOf(), volumeMounts: { '/data': volume } });
    await sandbox.commands.run('mkdir /data/many && cd /data/many && for i in $(seq 1 1500); do : > $i; done');
    expect(await volume.list('/many', content())).toHaveLength(1500);
    expect(await volume.list('/', { ...content(), depth: 2 })).toHaveLength(1501);
    await sandbox.kill();
  });

  it('is shared with the sandbox that mounts it, and its links do not lead out', async () => {
    const sandbox = await Sandbox.create('busybox', { ...optionsOf(), volumeMounts: { '/data': volume } });
    await sandbox.files.write('/data/from-sandbox', 'sandbox');
    expect(await volume.readFile('/from-sandbox', content())).toBe('sandbox');
    await volume.writeFile('/from-sdk', 'sdk', content());
    expect(await sandbox.files.read('/data/from-sdk')).toBe('sdk');
    await sandbox.commands.run('ln -s /etc/hostname /data/link; ln -s ../../../.. /data/up');
    expect(await volume.getInfo('/link', content())).toMatchObject({ type: 'symlink', target: '/etc/hostname' });
    for (const path of ['/link', '/up/etc/hostname', '/../../etc/hostname', '/proc/self/status']) {
      await expect(volume.readFile(path, content())).rejects.toThrow(VolumePathNotFoundError);
    }
    await sandbox.kill();
    const connected = await Volume.connect(volume.volumeId, optionsOf());
    expect(await connected.readFile('/from-sandbox', content())).toBe('sandbox');
  });

  it('is refused without a token of the volume', async () => {
    const { token, volumeId } = volume;
    const other = await Volume.create(`other-${made}`, optionsOf());
    await volume.writeFile('/file', 'x', content());
    for (const wrong of [
      '',
      'x',
      other.token,
      platform.owner.token,
      `${token}x`,
      token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    ]) {
      for (const [method, path] of [
        ['GET', 'file'],
        ['PUT', 'file'],
        ['GET', 'dir'],
        ['POST', 'dir'],
        ['GET', 'path'],
        ['PATCH', 'path'],
        ['DELETE', 'path'],
      ] as const) {
        expect((await ask(`${volumeId}/${path}?path=/file`, wrong, { method })).status).toBe(401);
      }
    }
    await expect(volume.readFile('/file', { ...content(), token: other.token })).rejects.toThrow(AuthenticationError);
    expect((await ask(`${other.volumeId}/file?path=/file`, token)).status).toBe(401);
    expect((await ask('vol_aaaaaaaaaaaaaaaaaaaaaaaaaa/file?path=/file', token)).status).toBe(401);
    expect(await volume.readFile('/file', content())).toBe('x');
    // It is good for nothing else.
    const elsewhere = await fetch(`${platform.url}/api/volumes`, { headers: { authorization: `Bearer ${token}` } });
    expect(elsewhere.status).toBe(401);
  });

  it('may be read with a key that may only read', async () => {
    const reader = platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']);
    await volume.writeFile('/file', 'x', content());
    const reading = await Volume.connect(volume.volumeId, optionsOf(reader));
    expect(reading.token).not.toBe(volume.token);
    expect(await reading.readFile('/file', content())).toBe('x');
    await expect(reading.writeFile('/file', 'y', content())).rejects.toThrow(/permission/);
    await expect(reading.remove('/file', content())).rejects.toThrow(/permission/);
    await expect(reading.updateMetadata('/file', { mode: 0 }, content())).rejects.toThrow(/permission/);
    await expect(reading.makeDir('/folder', content())).rejects.toThrow(/permission/);
    expect(await volume.readFile('/file', content())).toBe('x');
  });

  /** A download that the client does not read to its end. */
  const startDownload = async (key: FakeCaller) => {
    await volume.writeFile('/large', new Uint8Array(50 * 1024 * 1024).buffer, content());
    const { token } = await Volume.connect(volume.volumeId, optionsOf(key));
    const response = await ask(`${volume.volumeId}/file?path=/large`, token);
    const reader = response.body?.getReader();
    await reader?.read();
    // Slow enough that the whole would take much longer than the platform takes to notice.
    const rest = async (): Promise<void> => {
      while ((await reader?.read())?.done === false) await setTimeout(20);
    };
    return { token, rest };
  };

  it('ends with the credential of the token, in the middle of a transfer', async () => {
    const key = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
    const { token, rest } = await startDownload(key);
    platform.access.revoke(key);
    await expect(rest()).rejects.toThrow();
    expect((await ask(`${volume.volumeId}/path?path=/large`, token)).status).toBe(401);
    expect(await volume.exists('/large', content())).toBe(true);
  });

  it('ends with the volume, in the middle of a transfer', async () => {
    const { token, rest } = await startDownload(platform.owner);
    expect(await Volume.destroy(volume.volumeId, optionsOf())).toBe(true);
    await expect(rest()).rejects.toThrow();
    expect([401, 404]).toContain((await ask(`${volume.volumeId}/path?path=/large`, token)).status);
    await expect(volume.readFile('/large', content())).rejects.toThrow();
  });

  it('does not reach another volume that got its name while a body came in', async () => {
    const { name, token, volumeId } = volume;
    const sent = new TransformStream<Uint8Array, Uint8Array>();
    const writer = sent.writable.getWriter();
    const answer = fetch(`${platform.url}/e2b/volumecontent/${volumeId}/path?path=/file`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: sent.readable,
      duplex: 'half',
    });
    await writer.write(Buffer.from('{"mode":'));
    await setTimeout(200); // so that the head is admitted
    expect(await Volume.destroy(volumeId, optionsOf())).toBe(true);
    const next = await Volume.create(name, optionsOf());
    await next.writeFile('/file', 'theirs', { ...content(), mode: 0o600 });
    await writer.write(Buffer.from('511}'));
    await writer.close();
    expect((await answer).status).toBe(404);
    expect(await next.getInfo('/file', content())).toMatchObject({ mode: 0o600 });
  });

  it('keeps its token over a restart of the platform', async () => {
    await volume.writeFile('/kept', 'kept', content());
    await platform.close();
    await platform.reopen();
    expect(await volume.readFile('/kept', content())).toBe('kept');
    expect((await Volume.connect(volume.volumeId, optionsOf())).token).toBe(volume.token);
  });
});
