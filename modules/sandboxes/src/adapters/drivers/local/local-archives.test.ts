import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { LimitedDisk, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeHeader } from '../../../domain/archives/archive-header.ts';
import { ImageCatalog } from '../../../domain/images/catalog.ts';
import { NO_SETTINGS } from '../../../domain/images/image-settings.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { UnpackFailure, type UnpackLayer } from '../../images/disk/layer-unpacker.ts';
import { ImageStore } from '../../images/image-store.ts';
import { registrySource } from '../../images/registry/registry-source.ts';
import { LocalArchives } from './local-archives.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const BUILT = `built-${'a'.repeat(64)}`;
const signal = new AbortController().signal;

/** Like the helper, reads a layer to its end, and takes one that ends early for a damaged one. */
const unpack: UnpackLayer = async (stream) => {
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) bytes += chunk.length;
  } catch {
    throw new UnpackFailure('MALFORMED', 'unexpected EOF');
  }
  return { digest: bytes.toString(16).padStart(64, '0'), bytes, entries: 1 };
};

async function* zeros(sizeBytes: number): AsyncGenerator<Buffer> {
  const block = Buffer.alloc(MIB);
  for (let at = 0; at < sizeBytes; at += MIB) yield block.subarray(0, Math.min(MIB, sizeBytes - at));
}

describe('archives that a node unpacks', () => {
  let folder: TemporaryFolder;
  let images: ImageStore;
  let archives: LocalArchives;
  let disk: LimitedDisk;

  beforeEach(async () => {
    folder = await temporaryFolder();
    disk = new LimitedDisk(GIB);
    images = new ImageStore({
      folder: join(folder.path, 'images'),
      catalog: new ImageCatalog([], null),
      owner: folder.path,
      unpack,
      registry: registrySource({ settings: [], proxy: null, nowMs: Date.now }),
      nowMs: Date.now,
      maxImageBytes: GIB,
      sleep: async () => undefined,
      disk,
    });
    await images.open();
    archives = new LocalArchives({
      dataFolder: folder.path,
      images,
      helperBinaries: () => Promise.reject(new Error('not used')),
      disk,
      copyOf: (id) => join(folder.path, 'snapshots', id),
      diskOf: (id) => join(folder.path, 'disks', id, 'disk.img'),
      adopt: async (_spec, copy) => rename(copy, `${copy}.adopted`),
    });
  });
  afterEach(async () => {
    await images.close();
    await folder.remove();
  });

  async function* image(sizeBytes: number): AsyncGenerator<Uint8Array> {
    yield writeHeader(NO_SETTINGS);
    yield* zeros(sizeBytes);
  }
  /** A disk whose blocks are all written. */
  async function* diskImage(sizeBytes: number): AsyncGenerator<Uint8Array> {
    yield writeHeader({ digest: BUILT, sizeBytes });
    for (let offset = 0; offset <= sizeBytes; offset += MIB) {
      const record = Buffer.alloc(12);
      record.writeBigUInt64BE(BigInt(offset));
      record.writeUInt32BE(offset === sizeBytes ? 0 : MIB, 8);
      yield record;
      if (offset < sizeBytes) yield Buffer.alloc(MIB, 1);
    }
  }
  const create = async (sizeBytes: number): Promise<void> => {
    const open = (): AsyncIterable<Uint8Array> => diskImage(sizeBytes);
    const spec = { id: 'sbx_a' } as SandboxSpec; // only the id is used
    await archives.create(spec, { base: BUILT, open, openBase: async () => image(MIB) }, signal);
  };

  it('stop before an image uses up the reserve of the disk, and leave nothing', async () => {
    const added = archives.addBase(BUILT, image(2 * GIB), signal);
    await expect(added).rejects.toMatchObject({ code: 'HOST_DISK_FULL', status: 507 });
    expect(disk.freeBytes).toBeGreaterThanOrEqual(0);
    expect(await images.byDigest(BUILT)).toBeNull();
    for (const name of ['work', 'layers']) expect(await readdir(join(folder.path, 'images', name))).toEqual([]);
    disk.freeBytes = GIB;
    await archives.addBase(BUILT, image(64 * MIB), signal);
    expect(disk.freeBytes).toBe(GIB - 64 * MIB);
    expect(await archives.describeBase(BUILT)).toMatchObject({ isBuilt: true });
    expect((await archives.describeBase(BUILT)).sizeBytes).toBeGreaterThanOrEqual(64 * MIB);
  });

  it('stop before a layer of a build does', async () => {
    await archives.addBase(BUILT, image(MIB), signal);
    const content = async (): Promise<Readable> => Readable.from(zeros(2 * GIB), { objectMode: false });
    await expect(images.extend('layer', BUILT, content, signal)).rejects.toMatchObject({ code: 'HOST_DISK_FULL' });
    expect(disk.freeBytes).toBeGreaterThanOrEqual(0);
  });

  it('stop before a disk does, and leave no copy', async () => {
    await mkdir(join(folder.path, 'disks'), { recursive: true });
    disk.freeBytes = 10 * MIB;
    await expect(create(20 * MIB)).rejects.toMatchObject({ code: 'HOST_DISK_FULL' });
    expect(await readdir(join(folder.path, 'disks', 'sbx_a'))).toEqual([]);
    disk.freeBytes = 30 * MIB;
    await create(20 * MIB);
    expect(await readdir(join(folder.path, 'disks', 'sbx_a'))).toEqual(['archive.img.adopted']);
  });
});
