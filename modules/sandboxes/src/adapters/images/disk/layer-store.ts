import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { DiskSpace } from '@svc/runtime';
import pLimit from 'p-limit';
import { isDiskFull, takingDiskRoom } from '../../../domain/disk-room.ts';
import { namesIn, readIfThere, writeWhole } from './files.ts';
import { FileSystemSync } from './file-system-sync.ts';
import {
  UnpackFailure,
  type UnpackedLayer,
  type UnpackLayer,
  type UnpackLimits,
  type UnpackOptions,
} from './layer-unpacker.ts';
import { ownToken } from './process-token.ts';

/** Maximum number of layers fetched and unpacked concurrently, for all images. */
const PARALLEL_LAYERS = 3;

/** An unpacked layer, as referenced by images. */
export interface StoredLayer {
  /** `sha256-<hex>` of the uncompressed archive. */
  readonly name: string;
  readonly bytes: number;
  readonly entries: number;
}

export interface LayerSource {
  /** Expected `sha256:<hex>` of the uncompressed archive; null accepts any. */
  readonly diffId: string | null;
  /** Defaults to those of the store. */
  readonly limits?: UnpackLimits;
  /** The disk that it takes room on as it is unpacked, because only its end shows how much. Absent: it is not checked. */
  readonly disk?: DiskSpace;
  /** Opens the uncompressed archive; called only if the layer is missing. */
  open(): Promise<Readable>;
}

/**
 * Unpacked layers, each stored once: `layers/<name>/tree` in overlayfs format, next to `layer.json`. A layer appears
 * atomically, after it is synced to disk, and never changes.
 */
export class LayerStore {
  readonly #folder: string;
  readonly #work: string;
  readonly #unpack: UnpackLayer;
  readonly #limits: UnpackLimits;
  readonly #slots = pLimit(PARALLEL_LAYERS);
  readonly #sync: FileSystemSync;
  readonly #running = new Map<string, Promise<StoredLayer>>();

  constructor(folder: string, unpack: UnpackLayer, limits: UnpackLimits) {
    this.#folder = join(folder, 'layers');
    this.#work = join(folder, 'work');
    this.#unpack = unpack;
    this.#limits = limits;
    this.#sync = FileSystemSync.ofFolder(this.#work);
  }

  /** Absolute path of the unpacked layer. */
  treeOf(name: string): string {
    return join(this.#folder, name, 'tree');
  }

  async find(name: string): Promise<StoredLayer | null> {
    const text = await readIfThere(join(this.#folder, name, 'layer.json'));
    if (text === null) return null;
    const { bytes, entries } = JSON.parse(text) as UnpackedLayer; // written by #make below
    return { name, bytes, entries };
  }

  names(): Promise<string[]> {
    return namesIn(this.#folder);
  }

  /**
   * Returns the layer, unpacking it if needed. Concurrent calls for the same layer share the work. Throws
   * UnpackFailure and HOST_DISK_FULL.
   */
  async add(source: LayerSource, signal: AbortSignal): Promise<StoredLayer> {
    if (source.diffId === null) return this.#make(source, signal);
    const name = nameOfDigest(source.diffId);
    for (;;) {
      const known = await this.find(name);
      if (known !== null) return known;
      const running = this.#running.get(name);
      if (running === undefined) break;
      // Another image is fetching it; if that fails or is cancelled, this one tries itself.
      await Promise.race([running.catch(() => undefined), aborted(signal)]);
      signal.throwIfAborted();
    }
    const made = this.#make(source, signal).finally(() => this.#running.delete(name));
    this.#running.set(name, made);
    return made;
  }

  /** Removes a layer. A crash halfway leaves it in `work/`, where the next start finds it. */
  async remove(name: string): Promise<void> {
    const aside = this.#aside();
    if (await moved(join(this.#folder, name), aside)) await rm(aside, { recursive: true, force: true });
  }

  /** Hides a layer so that it can be restored. */
  async setAside(name: string): Promise<{ restore(): Promise<void>; remove(): Promise<void> } | null> {
    const aside = this.#aside();
    if (!(await moved(join(this.#folder, name), aside))) return null;
    return {
      restore: async () => {
        await moved(aside, join(this.#folder, name));
        await rm(aside, { recursive: true, force: true }); // it was created again meanwhile
      },
      remove: () => rm(aside, { recursive: true, force: true }),
    };
  }

  async #make({ diffId, limits = this.#limits, ...source }: LayerSource, signal: AbortSignal): Promise<StoredLayer> {
    const work = this.#aside();
    const tree = join(work, 'tree');
    await mkdir(tree, { recursive: true, mode: 0o755 });
    try {
      // A fixed time, for archives without an entry for the root.
      await utimes(tree, 0, 0);
      const algorithm = diffId?.startsWith('sha512:') === true ? 'sha512' : 'sha256';
      const options = { limits, signal, algorithm } as const;
      const unpacked = await this.#slots(async () => {
        signal.throwIfAborted();
        return this.#unpackFrom(source, tree, options);
      });
      const digest = `${algorithm}:${unpacked.digest}`;
      if (diffId !== null && digest !== diffId) {
        throw new UnpackFailure('MALFORMED', `the uncompressed layer is ${digest}, not ${diffId}`);
      }
      const name = nameOfDigest(digest);
      await this.#sync.done();
      await writeWhole(join(work, 'layer.json'), JSON.stringify(unpacked));
      await moved(work, join(this.#folder, name));
      return { name, bytes: unpacked.bytes, entries: unpacked.entries };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  async #unpackFrom(
    { open, disk }: Pick<LayerSource, 'open' | 'disk'>,
    tree: string,
    options: UnpackOptions,
  ): Promise<UnpackedLayer> {
    if (disk === undefined) return this.#unpack(await open(), tree, options);
    const content = Readable.from(takingDiskRoom(disk, (await open()) as AsyncIterable<Buffer>), { objectMode: false }); // no encoding is set
    try {
      return await this.#unpack(content, tree, options);
    } catch (error) {
      // To the unpacker, a stream that stops looks like a damaged layer.
      throw isDiskFull(content.errored) ? content.errored : error;
    }
  }

  #aside(): string {
    return join(this.#work, `${ownToken()}-${randomBytes(6).toString('hex')}`);
  }
}

/** `sha256:<hex>` as a folder name. */
export function nameOfDigest(digest: string): string {
  return digest.replace(':', '-');
}

/** Returns false if the source is missing or the target already exists. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
