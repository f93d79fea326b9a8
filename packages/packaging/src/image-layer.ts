import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { writeTar, type TarEntry } from '@svc/archive';

/** A file of an image, named by its hash. */
export interface Blob {
  /** `sha256:…` */
  digest: string;
  file: string;
  sizeBytes: number;
}

/** A compressed layer of an image. */
export interface Layer extends Blob {
  /** Digest of the uncompressed archive (OCI image-spec, "Layer DiffID"). */
  diffId: string;
}

/** Where a layer is written, and where compressed layers are kept. */
export interface LayerOptions {
  /** Receives the layer's file, which is named by its hash. */
  folder: string;
  /** Keeps layers for later builds; without one, every build compresses all of them. */
  cacheFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Writes the entries and their folders as a gzip-compressed layer, sorted so that input order does not matter. */
export async function writeLayer(entries: readonly TarEntry[], options: LayerOptions): Promise<Layer> {
  const sorted = withFolders(entries).toSorted((left, right) => (left.path < right.path ? -1 : 1));
  const { folder, cacheFolder } = options;
  if (cacheFolder === undefined) return compress(sorted, options);
  const kept = new KeptLayers(cacheFolder);
  const plain = createHash('sha256');
  await pipeline(Readable.from(writeTar(sorted)), plain);
  const known = await kept.copyTo(folder, `sha256:${plain.digest('hex')}`);
  if (known !== null) return known;
  const layer = await compress(sorted, options);
  await kept.keep(layer);
  return layer;
}

async function compress(entries: readonly TarEntry[], { folder, signal }: LayerOptions): Promise<Layer> {
  const plain = createHash('sha256');
  const compressed = createHash('sha256');
  const file = join(folder, 'layer.part');
  let sizeBytes = 0;
  const tap = (look: (chunk: Buffer) => void): Transform =>
    new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        look(chunk);
        done(null, chunk);
      },
    });
  await pipeline(
    Readable.from(writeTar(entries)),
    tap((chunk) => plain.update(chunk)),
    createGzip(),
    tap((chunk) => {
      compressed.update(chunk);
      sizeBytes += chunk.length;
    }),
    createWriteStream(file),
    ...(signal === undefined ? [] : [{ signal }]),
  );
  const hash = compressed.digest('hex');
  const named = join(folder, hash);
  await rename(file, named);
  return { digest: `sha256:${hash}`, diffId: `sha256:${plain.digest('hex')}`, file: named, sizeBytes };
}

function withFolders(entries: readonly TarEntry[]): TarEntry[] {
  const given = new Set(entries.map(({ path }) => path));
  const folders = new Set<string>();
  for (const { path } of entries) {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) {
      if (!given.has(folder)) folders.add(folder);
    }
  }
  return [...entries, ...[...folders].map((path): TarEntry => ({ type: 'folder', path }))];
}

/** Node, the libraries and the program of two architectures, and a few more. */
const MAX_KEPT = 8;
const SUFFIX = '.tar.gz';

/**
 * Compressed layers of earlier builds, by the digest of what they hold. Node takes most of the time that an image takes,
 * and changes least.
 */
class KeptLayers {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, 'layers');
  }

  /** Copies a kept layer to the folder. Null if there is none, or if its file does not hold what its name says. */
  async copyTo(folder: string, diffId: string): Promise<Layer | null> {
    const kept = this.#fileOf(diffId);
    const copy = join(folder, 'kept.part');
    try {
      await copyFile(kept, copy);
      const now = new Date();
      await utimes(kept, now, now);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
    const hash = await checkedHash(copy, diffId);
    if (hash === null) return null;
    const file = join(folder, hash);
    await rename(copy, file);
    return { digest: `sha256:${hash}`, diffId, file, sizeBytes: (await stat(file)).size };
  }

  /** Keeps a copy, and removes those that were used longest ago. */
  async keep({ diffId, file }: Layer): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const kept = this.#fileOf(diffId);
    const part = `${kept}.${process.pid}.part`;
    await copyFile(file, part);
    await rename(part, kept);
    const files = (await readdir(this.#folder)).filter((name) => name.endsWith(SUFFIX));
    const ages = await Promise.all(
      files.map(async (name) => ({ name, usedMs: (await stat(join(this.#folder, name))).mtimeMs })),
    );
    const oldest = ages.toSorted((left, right) => right.usedMs - left.usedMs).slice(MAX_KEPT);
    for (const { name } of oldest) await rm(join(this.#folder, name), { force: true });
  }

  #fileOf(diffId: string): string {
    return join(this.#folder, `${diffId.replace('sha256:', '')}${SUFFIX}`);
  }
}

/** SHA-256 of a compressed file in hexadecimal, or null if it does not decompress to the digest. */
async function checkedHash(file: string, diffId: string): Promise<string | null> {
  const [compressed, plain] = [createHash('sha256'), createHash('sha256')];
  const tapped = createReadStream(file).on('data', (chunk) => compressed.update(chunk));
  try {
    await pipeline(tapped, createGunzip(), plain);
  } catch {
    return null;
  }
  return `sha256:${plain.digest('hex')}` === diffId ? compressed.digest('hex') : null;
}
