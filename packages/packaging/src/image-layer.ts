import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
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

/** Writes the entries and their folders as a gzip-compressed layer, sorted so that input order does not matter. */
export async function writeLayer(folder: string, entries: readonly TarEntry[], signal?: AbortSignal): Promise<Layer> {
  const sorted = withFolders(entries).toSorted((left, right) => (left.path < right.path ? -1 : 1));
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
    Readable.from(writeTar(sorted)),
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
