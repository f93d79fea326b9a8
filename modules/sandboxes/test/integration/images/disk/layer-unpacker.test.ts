import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { helperBinaries } from '../../../support/local-subject.ts';
import { tarArchive, type TarEntry } from '../../../support/tar-archive.ts';
import { helperUnpacker, type UnpackedLayer } from '../../../../src/adapters/images/disk/layer-unpacker.ts';

const LIMITS = { maxBytes: 1_000_000, maxEntries: 50 };

describeRequiring(['linux', 'root', 'command:getfattr'], 'unpacking a layer', () => {
  const unpack = helperUnpacker(async () => (await helperBinaries(process.arch)).file);
  let folder: TemporaryFolder;
  let root: string;
  beforeEach(async () => {
    folder = await temporaryFolder('svc-unpack-');
    root = join(folder.path, 'outer', 'root');
    await mkdir(root, { recursive: true });
  });
  afterEach(() => folder.remove());

  const unpackArchive = (archive: Buffer): Promise<UnpackedLayer> =>
    unpack(Readable.from([archive]), root, { limits: LIMITS, signal: AbortSignal.timeout(20_000) });
  const unpackEntries = (...entries: TarEntry[]): Promise<UnpackedLayer> => unpackArchive(tarArchive(entries));
  const at = (path: string): string => join(root, path);
  const attributes = (path: string): string =>
    execFileSync('getfattr', ['-h', '-d', '-m', '-', '--absolute-names', at(path)], { encoding: 'utf8' });
  const isWhiteout = async (path: string): Promise<boolean> => {
    const found = await lstat(at(path));
    return found.isCharacterDevice() && found.rdev === 0;
  };

  it('preserves owners, modes including setuid, times and links', async () => {
    const result = await unpackEntries(
      { name: './', type: 'folder', mode: 0o755, modifiedSeconds: 1_000_000_000 },
      { name: 'home/app/', type: 'folder', mode: 0o700, uid: 1000, gid: 1001, modifiedSeconds: 1_100_000_000 },
      { name: 'home/app/run', content: 'run', mode: 0o4755, uid: 1000, gid: 1001 },
      { name: 'home/app/again', type: 'link', target: 'home/app/run' },
      { name: 'home/app/away', type: 'symlink', target: '/etc/passwd', uid: 7 },
      { name: 'pipe', type: 'fifo' },
    );
    expect(result).toMatchObject({ bytes: 3, entries: 6, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await lstat(at('home/app'))).toMatchObject({
      mode: 0o40700,
      uid: 1000,
      gid: 1001,
      mtimeMs: 1_100_000_000_000,
    });
    expect((await lstat(root)).mtimeMs).toBe(1_000_000_000_000);
    const run = await lstat(at('home/app/run'));
    expect(run).toMatchObject({ mode: 0o104755, uid: 1000, nlink: 2 });
    expect((await lstat(at('home/app/again'))).ino).toBe(run.ino);
    expect(await readlink(at('home/app/away'))).toBe('/etc/passwd');
    expect((await lstat(at('home/app/away'))).uid).toBe(7);
    expect((await lstat(at('pipe'))).isFIFO()).toBe(true);
  });

  it('writes whiteouts and opaque directories for overlayfs', async () => {
    await unpackEntries(
      { name: 'etc/.wh.gone' },
      { name: 'opt/.wh..wh..opq' },
      { name: 'opt/new', content: 'n' },
      { name: 'var/.wh..wh.plnk/1.2', content: 'note of AUFS' },
      { name: '.wh.srv' },
      { name: 'srv/again', content: 's' },
    );
    expect(await isWhiteout('etc/gone')).toBe(true);
    expect(attributes('opt')).toContain('trusted.overlay.opaque="y"');
    expect(await readFile(at('opt/new'), 'utf8')).toBe('n');
    // Removed and recreated by one layer: nothing from the lower layers may show through.
    expect(attributes('srv')).toContain('trusted.overlay.opaque="y"');
    expect(await readFile(at('srv/again'), 'utf8')).toBe('s');
  });

  it('keeps the last entry of a duplicated name', async () => {
    await unpackEntries(
      { name: 'a', type: 'folder' },
      { name: 'a/b/c', content: 'old' },
      { name: 'a', content: 'file now' },
      { name: 'x', type: 'symlink', target: '/etc' },
      { name: 'x', type: 'folder' },
      { name: 'x/passwd', content: 'inside' },
    );
    expect(await readFile(at('a'), 'utf8')).toBe('file now');
    expect(await readFile(at('x/passwd'), 'utf8')).toBe('inside');
  });

  it('maps owners outside the id range to nobody and skips devices', async () => {
    await unpackEntries(
      { name: 'far', content: '', uid: 2_000_000, gid: 65_536 },
      { name: 'dev/null', type: 'character' },
      { name: 'dev/sda', type: 'block' },
    );
    expect(await lstat(at('far'))).toMatchObject({ uid: 65_534, gid: 65_534 });
    expect(await readdir(root)).toEqual(['far']);
  });

  it('keeps user and capability attributes, and drops those of overlayfs, SELinux and ACLs', async () => {
    const capability = Buffer.alloc(20);
    capability.writeUInt32LE(0x0200_0001);
    await unpackEntries({
      name: 'ping',
      attributes: {
        'user.note': 'kept',
        'security.capability': capability.toString('latin1'),
        'trusted.overlay.opaque': 'y',
        'trusted.overlay.redirect': '/etc',
        'user.overlay.opaque': 'y',
        'security.selinux': 'x',
        'system.posix_acl_access': 'x',
      },
    });
    const shown = attributes('ping');
    expect(shown).toMatch(/user\.note="kept"/);
    expect(shown).toMatch(/security\.capability=/);
    expect(shown).not.toMatch(/overlay|selinux|posix/);
  });

  it.each<[string, TarEntry[], RegExp]>([
    ['a path with ..', [{ name: '../escaped', content: 'x' }], /"\.\.\/escaped" leads out of the layer/],
    ['a path with .. in the middle', [{ name: 'a/../../escaped', content: 'x' }], /leads out of the layer/],
    ['a path that ends in ..', [{ name: 'a/..', type: 'folder' }], /leads out of the layer/],
    ['an absolute path', [{ name: '/etc/escaped', content: 'x' }], /has an absolute path/],
    ['a whiteout of ..', [{ name: '.wh...' }], /is an invalid whiteout/],
    ['a whiteout of itself', [{ name: 'a/.wh..' }], /is an invalid whiteout/],
    ['a whiteout without a name', [{ name: 'a/.wh.' }], /is an invalid whiteout/],
    [
      'a path through a link that leads out',
      [
        { name: 'out', type: 'symlink', target: '../..' },
        { name: 'out/escaped', content: 'x' },
      ],
      /passes through out, which is a link/,
    ],
    [
      'a path through an absolute link',
      [
        { name: 'out', type: 'symlink', target: '/tmp' },
        { name: 'out/escaped', content: 'x' },
      ],
      /passes through out/,
    ],
    [
      'a folder that became a link',
      [
        { name: 'a/b', content: 'x' },
        { name: 'a', type: 'symlink', target: '/etc' },
        { name: 'a/escaped', content: 'x' },
      ],
      /passes through a, which is a link/,
    ],
    [
      'a path through a file',
      [
        { name: 'file', content: 'x' },
        { name: 'file/below', content: 'x' },
      ],
      /passes through file/,
    ],
    [
      'a whiteout through a link',
      [{ name: 'out', type: 'symlink', target: '/etc' }, { name: 'out/.wh.passwd' }],
      /passes through out/,
    ],
    [
      'an opaque mark on a link',
      [{ name: 'out', type: 'symlink', target: '/etc' }, { name: 'out/.wh..wh..opq' }],
      /is marked opaque but is not a directory/,
    ],
    ['a hard link out', [{ name: 'hard', type: 'link', target: '../../secret' }], /leads out of the layer/],
    ['a hard link to an absolute path', [{ name: 'hard', type: 'link', target: '/etc/passwd' }], /absolute path/],
    ['a hard link to nothing', [{ name: 'hard', type: 'link', target: 'absent' }], /not a file of this layer/],
    [
      'a hard link through a link',
      [
        { name: 'out', type: 'symlink', target: '/etc' },
        { name: 'hard', type: 'link', target: 'out/passwd' },
      ],
      /passes through out/,
    ],
    [
      'a hard link to a folder',
      [
        { name: 'folder', type: 'folder' },
        { name: 'hard', type: 'link', target: 'folder' },
      ],
      /not a file of this layer/,
    ],
    ['a root that is no folder', [{ name: '.', type: 'symlink', target: '/etc' }], /would replace the root/],
    [
      'a name that is too long',
      [
        { name: 'n'.repeat(99), content: '' },
        { name: 'd/'.repeat(49), type: 'folder' },
        { name: 'l', type: 'symlink', target: '' },
      ],
      /invalid target/,
    ],
    ['more bytes than are allowed', [{ name: 'big', claimedBytes: 1_000_001 }], /more than 1000000 bytes/],
    [
      'more entries than are allowed',
      Array.from({ length: 51 }, (_, index) => ({ name: `f${index}` })),
      /more than 50 entries/,
    ],
  ])('refuses %s', async (_what, entries, message) => {
    await expect(unpackEntries(...entries)).rejects.toThrow(message);
    expect(await readdir(join(folder.path, 'outer'))).toEqual(['root']);
    expect(await readdir(folder.path)).toEqual(['outer']);
  });

  it('refuses data that is not an archive, and a truncated archive', async () => {
    await expect(unpackArchive(Buffer.alloc(2000, 'x'))).rejects.toMatchObject({ code: 'MALFORMED' });
    const whole = tarArchive([{ name: 'file', content: Buffer.alloc(5000) }]);
    await expect(unpackArchive(whole.subarray(0, 2000))).rejects.toThrow(/is truncated/);
  });

  it('includes the whole stream in the digest, even bytes after the archive', async () => {
    const archive = tarArchive([{ name: 'file', content: 'x' }]);
    const plain = await unpackArchive(archive);
    const longer = await unpackArchive(Buffer.concat([archive, Buffer.alloc(10_240)]));
    expect(longer.digest).not.toBe(plain.digest);
  });

  it('stops when its caller aborts', async () => {
    const never = new Readable({ read: () => undefined });
    const signal = AbortSignal.timeout(50);
    await expect(unpack(never, root, { limits: LIMITS, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(never.destroyed).toBe(true);
  });
});
