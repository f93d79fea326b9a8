import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { describeRequiring } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultyProxy, type FaultyProxy } from '../../support/faulty-proxy.ts';
import { imageStoreSubject, type ImageStoreSubject } from '../../support/image-store-subject.ts';
import { startRegistry, type Pushed, type RegistryServer, type TestImage } from '../../support/registry-server.ts';
import { tarArchive } from '../../support/tar-archive.ts';
import type { ImageProgress } from '../../../src/domain/images/progress.ts';
import type { ImageStore } from '../../../src/adapters/images/image-store.ts';

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const base = {
  entries: [
    { name: 'etc/os-release', content: 'ID=base\n' },
    { name: 'etc/old', content: 'old' },
  ],
};
const upper = { entries: [{ name: 'etc/.wh.old' }, { name: 'app', content: 'app' }] };
const noise = (sizeBytes: number): Buffer => {
  const content = Buffer.alloc(sizeBytes);
  for (let at = 0, value = 1; at < sizeBytes; at += 1) content[at] = (value = (value * 48_271) % 2_147_483_647) & 255;
  return content;
};

describeRequiring(['linux', 'root', 'command:docker-registry'], 'pulling from a registry', () => {
  let registry: RegistryServer;
  let subject: ImageStoreSubject;
  let stores: ImageStore[];
  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterAll(() => registry.close());
  beforeEach(async () => {
    subject = await imageStoreSubject();
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await subject[Symbol.asyncDispose]();
  });

  const createStore = async (references: Record<string, string>, options: object = {}): Promise<ImageStore> => {
    const images = Object.entries(references).map(([name, reference]) => [name, [{ kind: 'registry', reference }]]);
    const store = await subject.open(Object.fromEntries(images), options);
    stores.push(store);
    return store;
  };
  const pushed = (repository: string, image: TestImage): Promise<Pushed> => registry.push(repository, 'latest', image);
  const pull = async (reference: string, options: object = {}) =>
    (await createStore({ it: reference }, options)).prepare('it', signal());
  const layersHere = (): Promise<string[]> => readdir(join(subject.folder, 'layers'));
  const leftovers = async (): Promise<string[]> =>
    (await Promise.all(['work', 'leases'].map((name) => readdir(join(subject.folder, name))))).flat();

  describe.each(['oci', 'docker'] as const)('an image in %s format', (format) => {
    it.each(['gzip', 'zstd', 'none'] as const)('unpacks %s layers', async (compression) => {
      const name = `form-${format}-${compression}`;
      const config = { Env: ['PATH=/opt/bin:/bin', 'LEVEL=1'], WorkingDir: '/srv', User: 'app', Cmd: ['serve'] };
      const { digest } = await pushed(name, {
        format,
        config,
        layers: [
          { ...base, compression },
          { ...upper, compression },
        ],
      });
      const image = await pull(`${registry.host}/${name}`);
      expect(image.digest).toBe(digest.replace(':', '-'));
      const [top = '', bottom = ''] = image.layers;
      expect(await readFile(join(bottom, 'etc/os-release'), 'utf8')).toBe('ID=base\n');
      expect(await readFile(join(top, 'app'), 'utf8')).toBe('app');
      expect((await lstat(join(top, 'etc/old'))).isCharacterDevice()).toBe(true);
      expect(image.settings).toMatchObject({ environment: { LEVEL: '1' }, workingFolder: '/srv', user: 'app' });
      expect(await leftovers()).toEqual([]);
    });
  });

  it('reads all frames of a zstd layer, as zstd:chunked requires', async () => {
    const archive = tarArchive([
      { name: 'first', content: noise(5000) },
      { name: 'last', content: 'here' },
    ]);
    const frames = [archive.subarray(0, 3000), archive.subarray(3000)].map((part) => zstdCompressSync(part));
    const note = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0]), Buffer.from('x')]);
    const compressed = Buffer.concat([...frames, note]);
    await pushed('chunked', { layers: [{ archive, compressed, compression: 'zstd' }] });
    const { layers } = await pull(`${registry.host}/chunked`);
    expect(await readFile(join(layers[0] ?? '', 'last'), 'utf8')).toBe('here');
  });

  it("selects this machine's platform from an index, and lists the available ones if it is missing", async () => {
    const ours = process.arch === 'x64' ? 'amd64' : process.arch;
    const one = await pushed('many', { layers: [base] });
    const other = await pushed('many', { layers: [upper], architecture: 's390x' });
    await registry.pushIndex('many', 'all', [
      { ...other, platform: { os: 'linux', architecture: 's390x' } },
      { ...one, platform: { os: 'linux', architecture: ours } },
    ]);
    expect((await pull(`${registry.host}/many:all`)).digest).toBe(one.digest.replace(':', '-'));
    await registry.pushIndex('many', 'other', [{ ...other, platform: { os: 'linux', architecture: 's390x' } }]);
    await expect(pull(`${registry.host}/many:other`)).rejects.toThrow(/none for linux\/.*only for linux\/s390x/);
    await expect(pull(`${registry.host}/many@${other.digest}`)).rejects.toThrow(/it is for linux\/s390x/);
  });

  it('unpacks a shared layer once and removes it with its last image', async () => {
    await pushed('shared-one', { layers: [base, upper] });
    await pushed('shared-two', { layers: [base, { entries: [{ name: 'two', content: '2' }] }] });
    const store = await createStore({ one: `${registry.host}/shared-one`, two: `${registry.host}/shared-two` });
    const [one, two] = await Promise.all([store.prepare('one', signal()), store.prepare('two', signal())]);
    expect(one.layers.at(-1)).toBe(two.layers.at(-1));
    expect(await layersHere()).toHaveLength(3);
    await store.forget('one');
    await store.collect(); // the background collection may have run earlier
    expect(await layersHere()).toHaveLength(2);
    expect((await store.byDigest(two.digest))?.layers).toEqual(two.layers);
    expect(await store.byDigest(one.digest)).toBeNull();
  });

  it('finds a newer image at the next pull, and keeps the older one while a sandbox uses it', async () => {
    await pushed('moving', { layers: [base] });
    const store = await createStore({ it: `${registry.host}/moving` });
    const first = await store.claim('sbx_one', 'it', signal());
    expect(await store.pull('it', signal())).toMatchObject({ changed: false });
    await pushed('moving', { layers: [upper] });
    expect(await store.pull('it', signal())).toMatchObject({ changed: true });
    const second = await store.prepare('it', signal());
    expect(second.digest).not.toBe(first.digest);
    await store.collect();
    expect(await store.byDigest(first.digest)).not.toBeNull();
    await store.release('sbx_one');
    await store.collect();
    expect(await store.byDigest(first.digest)).toBeNull();
    expect(await store.byDigest(second.digest)).not.toBeNull();
  });

  it('reports progress, and serves concurrent requests with one pull', async () => {
    await pushed('progress', { layers: [{ entries: [{ name: 'big', content: noise(2_000_000) }] }, upper] });
    const store = await createStore({ it: `${registry.host}/progress` });
    const seen: ImageProgress[] = [];
    const [one, two] = await Promise.all([
      store.pull('it', signal(), (progress) => seen.push(progress)),
      store.pull('it', signal()),
    ]);
    expect(one).toBe(two);
    expect(seen[0]).toMatchObject({ stage: 'resolving', source: `registry ${registry.host}/progress` });
    const last = seen.at(-1);
    expect(last).toMatchObject({ layers: 2, layersDone: 2 });
    expect(last?.bytesDone).toBe(last?.bytes);
    expect(seen.some(({ bytesDone, bytes }) => bytesDone > 0 && bytesDone < bytes)).toBe(true);
    expect(store.findProgress('it')).toBeNull();
  });

  describe('on a failing network', () => {
    const content = noise(900_000);
    let proxy: FaultyProxy;
    let blob: string;
    beforeEach(async () => {
      proxy = await faultyProxy(registry.host);
      const { layerDigests } = await pushed('far', {
        layers: [{ entries: [{ name: 'big', content }], compression: 'none' }],
      });
      blob = layerDigests[0] ?? '';
    });
    afterEach(() => proxy.close());
    const pullFar = () => pull(`${proxy.host}/far`);
    const ranges = () => proxy.requests.filter(({ path }) => path.endsWith(blob)).map(({ range }) => range);

    it('continues where the connection broke', async () => {
      proxy.breakBlobsAfter([300_000, 200_000]);
      const { layers } = await pullFar();
      expect((await readFile(join(layers[0] ?? '', 'big'))).equals(content)).toBe(true);
      const [first, second = '', third = ''] = ranges();
      expect(first).toBeUndefined();
      const [from, then] = [second, third].map((range) => Number(/^bytes=(\d+)-$/.exec(range)?.[1]));
      expect(from).toBeGreaterThan(0);
      expect(then).toBeGreaterThan(from ?? 0);
    });

    it('starts over if a server ignores the range', async () => {
      proxy.breakBlobsAfter([300_000]);
      proxy.ignoreRanges();
      const { layers } = await pullFar();
      expect((await readFile(join(layers[0] ?? '', 'big'))).equals(content)).toBe(true);
    });

    it('gives up eventually, and a later pull continues the partial download', async () => {
      proxy.breakBlobsAfter([400_000, 0, 0, 0, 0, 0, 0]);
      await expect(pullFar()).rejects.toThrow(/registry 127\.0\.0\.1:\d+\/far: the connection was lost/);
      expect(await readdir(join(subject.folder, 'partial'))).toHaveLength(1);
      proxy.requests.length = 0;
      proxy.breakBlobsAfter([]);
      const { layers } = await pullFar();
      expect((await readFile(join(layers[0] ?? '', 'big'))).equals(content)).toBe(true);
      expect(ranges()).toEqual([expect.stringMatching(/^bytes=[1-9]/)]);
      expect(await readdir(join(subject.folder, 'partial'))).toEqual([]);
    });

    it('refuses bytes that do not match the digest, and never continues them', async () => {
      proxy.corruptBlobs();
      await expect(pullFar()).rejects.toThrow(/layer sha256:[0-9a-f]{12} is not what its digest says/);
      proxy.behave();
      await pullFar();
      expect(ranges().at(-1)).toBeUndefined();
    });

    it('refuses more bytes than announced', async () => {
      proxy.appendToBlobs(Buffer.alloc(100_000));
      await expect(pullFar()).rejects.toThrow(/is larger than announced/);
    });

    it('refuses a manifest that does not match its digest', async () => {
      proxy.corruptManifests();
      await expect(pullFar()).rejects.toThrow(/the manifest latest is not what its digest says/);
    });

    it("reports rate limits, server errors and unexpected responses with the registry's name", async () => {
      proxy.answerManifests(429);
      await expect(pullFar()).rejects.toThrow(/limits how often it may be asked/);
      proxy.answerManifests(503);
      await expect(pullFar()).rejects.toThrow(/answers 503/);
    });

    it('limits the number of redirects', async () => {
      proxy.redirectBlobs((path) => path);
      await expect(pullFar()).rejects.toThrow(/redirects without end/);
    });
  });

  it('names every source with its reason when none provides the image', async () => {
    const store = await subject.open({
      it: [
        { kind: 'registry', reference: '127.0.0.1:1/nothing' },
        { kind: 'registry', reference: `${registry.host}/absent:1` },
        { kind: 'rootfs_tar', path: '/nonexistent/rootfs.tar' },
      ],
    });
    stores.push(store);
    const failure = await store.prepare('it', signal()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'IMAGE_PULL_FAILED' });
    expect(String(failure)).toMatch(
      /registry 127\.0\.0\.1:1\/nothing: 127\.0\.0\.1:1 cannot be reached: nothing listens there/,
    );
    expect(String(failure)).toMatch(/absent:1: 127\.0\.0\.1:\d+ has no absent\/manifests\/1/);
    expect(String(failure)).toMatch(/archive \/nonexistent\/rootfs\.tar: .*no such file/);
  });

  it.each<[string, TestImage, RegExp]>([
    [
      'another uncompressed layer than named',
      { layers: [base], diffIds: [`sha256:${'1'.repeat(64)}`] },
      /uncompressed layer is sha256:.*, not sha256:1111/,
    ],
    [
      'a layer that cannot be decompressed',
      { layers: [{ ...base, compressed: Buffer.alloc(3000, 'x') }] },
      /cannot be decompressed|not a tar archive/,
    ],
    [
      'a layer that ends in the middle',
      { layers: [{ archive: tarArchive([{ name: 'f', content: noise(9000) }]).subarray(0, 4000) }] },
      /is truncated/,
    ],
    [
      'a hostile layer',
      { layers: [base, { entries: [{ name: '../../escaped', content: 'x' }] }] },
      /"\.\.\/\.\.\/escaped" leads out of the layer/,
    ],
    [
      'a bomb',
      { layers: [{ entries: [{ name: 'bomb', claimedBytes: 8 ** 11 - 1 }] }] },
      /files have more than \d+ bytes/,
    ],
  ])('refuses %s and leaves nothing behind', async (_what, image, message) => {
    const name = `bad-${Math.abs(_what.length)}-${_what.split(' ').at(-1)}`;
    await pushed(name, image);
    await expect(pull(`${registry.host}/${name}`)).rejects.toThrow(message);
    const store = stores[0];
    await store?.collect();
    expect(await layersHere()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  it('refuses an oversized image before downloading it', async () => {
    await pushed('large', { layers: [{ entries: [{ name: 'big', content: noise(3_000_000) }] }] });
    await expect(pull(`${registry.host}/large`, { maxImageBytes: 1_000_000 })).rejects.toThrow(/larger than/);
  });
});
