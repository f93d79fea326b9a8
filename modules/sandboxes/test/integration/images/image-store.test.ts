import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { imageStoreSubject, type ImageStoreSubject } from '../../support/image-store-subject.ts';
import { tarArchive } from '../../support/tar-archive.ts';
import type { ImageStore, ImageStoreOptions } from '../../../src/adapters/images/image-store.ts';

const signal = (): AbortSignal => AbortSignal.timeout(30_000);
const archive = (content: string): Buffer => tarArchive([{ name: 'file', content }]);

describeRequiring(['linux', 'root', 'command:xz', 'command:bzip2'], 'images on this machine', () => {
  let subject: ImageStoreSubject;
  let files: TemporaryFolder;
  let stores: ImageStore[];
  beforeEach(async () => {
    subject = await imageStoreSubject();
    files = await temporaryFolder('svc-archives-');
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await files.remove();
    await subject[Symbol.asyncDispose]();
  });

  const open = async (names: readonly string[] = ['one', 'two'], options: Partial<ImageStoreOptions> = {}) => {
    const specs = names.map((name) => [name, [{ kind: 'rootfs_tar' as const, path: join(files.path, `${name}.tar`) }]]);
    const store = await subject.open(Object.fromEntries(specs), options);
    stores.push(store);
    return store;
  };
  const put = (name: string, content: Buffer): Promise<void> => writeFile(join(files.path, `${name}.tar`), content);
  const inside = (...path: string[]): string => join(subject.folder, ...path);
  const leftovers = async (): Promise<string[]> =>
    (await Promise.all(['work', 'leases', 'partial'].map((name) => readdir(inside(name))))).flat();

  it.each<[string, (content: Buffer) => Buffer]>([
    ['nothing', (content) => content],
    ['gzip', (content) => gzipSync(content)],
    ['zstd', (content) => zstdCompressSync(content)],
    ['xz', (content) => execFileSync('xz', ['-c'], { input: content })],
    ['bzip2', (content) => execFileSync('bzip2', ['-c'], { input: content })],
  ])('are created from archives compressed by %s', async (_how, compress) => {
    await put('one', compress(archive('content')));
    const { layers } = await (await open()).prepare('one', signal());
    expect(await readFile(join(layers[0] ?? '', 'file'), 'utf8')).toBe('content');
    expect(await leftovers()).toEqual([]);
  });

  it.each<[string, Buffer, RegExp]>([
    ['is empty', Buffer.alloc(0), /the archive is empty/],
    ['has no files', tarArchive([]), /the archive is empty/],
    ['is damaged', gzipSync(archive('x')).subarray(0, 40), /cannot be decompressed/],
    [
      'ends too early',
      execFileSync('xz', ['-c'], { input: archive('x'.repeat(9000)) }).subarray(0, 80),
      /cannot be decompressed/,
    ],
    ['is none', Buffer.alloc(4000, 'x'), /not a tar archive/],
  ])('are not created from an archive that %s', async (_what, content, message) => {
    await put('one', content);
    await expect((await open()).prepare('one', signal())).rejects.toThrow(message);
    expect(await leftovers()).toEqual([]);
  });

  it('are kept as long as a name or a sandbox of any process refers to them', async () => {
    await put('one', archive('1'));
    const store = await open();
    const { digest } = await store.claim('sbx_a', 'one', signal());
    const other = await open();
    expect(await other.forget('one')).toBe(true);
    expect(await other.forget('one')).toBe(false);
    expect(await other.collect()).toEqual({ images: 0, layers: 0, bytes: 0 });
    expect(await store.byDigest(digest)).not.toBeNull();
    await store.release('sbx_a');
    await store.collect();
    expect(await readdir(inside('layers'))).toEqual([]);
  });

  it('are released when the folder of their sandboxes is gone', async () => {
    await put('one', archive('1'));
    const platform = await temporaryFolder('svc-platform-');
    const store = await open(['one'], { owner: platform.path });
    await store.claim('sbx_a', 'one', signal());
    await store.forget('one');
    expect(await store.collect()).toMatchObject({ layers: 0 });
    await platform.remove();
    expect(await store.collect()).toMatchObject({ images: 1, layers: 1 });
    expect(await readdir(inside('holds'))).toEqual([]);
  });

  it('are kept only for the sandboxes that a platform finds at its start', async () => {
    await put('one', archive('1'));
    await put('two', archive('2'));
    const store = await open();
    const one = await store.claim('sbx_a', 'one', signal());
    const two = await store.claim('sbx_b', 'two', signal());
    for (const name of ['one', 'two']) await store.forget(name);
    await store.declare(new Map([['sbx_b', two.digest]]), { exactly: true });
    await store.collect();
    expect([await store.byDigest(one.digest), await store.byDigest(two.digest)]).toMatchObject([null, {}]);
  });

  it('are not collected while another process prepares one', async () => {
    await put('one', archive('1'));
    const store = await open();
    await store.prepare('one', signal());
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      const stat = await readFile(`/proc/${child.pid}/stat`, 'latin1');
      const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
      await writeFile(inside('leases', `${child.pid}.${start}-abc`), '');
      await store.forget('one');
      expect(await store.collect()).toMatchObject({ layers: 0 });
    } finally {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    expect(await store.collect()).toMatchObject({ layers: 1 });
    expect(await leftovers()).toEqual([]);
  });

  it('are recreated when a layer is missing', async () => {
    await put('one', archive('1'));
    const store = await open();
    const { layers } = await store.prepare('one', signal());
    await rm(join(layers[0] ?? '', '..'), { recursive: true });
    const again = await store.prepare('one', signal());
    expect(await readFile(join(again.layers[0] ?? '', 'file'), 'utf8')).toBe('1');
  });

  it('are migrated from the previous layout', async () => {
    await put('one', archive('1'));
    const { digest, layers } = await (await open()).prepare('one', signal());
    const folder = inside('images', digest);
    await rm(folder, { recursive: true });
    await mkdir(folder);
    await rename(layers[0] ?? '', join(folder, 'rootfs'));
    await rm(inside('layers', digest), { recursive: true });
    const found = await (await open()).byDigest(digest);
    expect(await readFile(join(found?.layers[0] ?? '', 'file'), 'utf8')).toBe('1');
  });

  it('are complete or absent after a kill at any moment, without leftovers', async () => {
    const entries = Array.from({ length: 800 }, (_, index) => ({
      name: `d${index % 50}/f${index}`,
      content: 'x'.repeat(900),
    }));
    await put('one', gzipSync(tarArchive(entries)));
    const script = fileURLToPath(new URL('../../support/prepare-image.ts', import.meta.url));
    const begin = async () => {
      const child = spawn(process.execPath, [script, subject.folder, join(files.path, 'one.tar')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => child.once('close', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      return { child, ended };
    };
    const rounds = 5;
    let whole = 0;
    let wholeMs = 0;
    for (let round = 0; round < rounds; round += 1) {
      const { child, ended } = await begin();
      const begunMs = performance.now();
      // The first runs to completion; the others are killed earlier and earlier in the same span.
      const { promise: due, resolve } = Promise.withResolvers<void>();
      const timer = round === 0 ? null : setTimeout(resolve, (wholeMs * (rounds - round)) / rounds);
      await Promise.race([due, ended]);
      if (timer !== null) clearTimeout(timer);
      else wholeMs = performance.now() - begunMs;
      child.kill('SIGKILL');
      await ended;
      const store = await open(['one']);
      expect(await readdir(inside('work'))).toEqual([]);
      for (const name of await readdir(inside('layers'))) {
        whole += 1;
        expect(
          execFileSync('find', [inside('layers', name, 'tree'), '-type', 'f'], { encoding: 'utf8' }).split('\n'),
        ).toHaveLength(801);
      }
      await store.forget('one');
      await store.collect();
      expect(await readdir(inside('layers'))).toEqual([]);
      expect(await leftovers()).toEqual([]);
    }
    expect(whole).toBeGreaterThan(0);
  });
});
