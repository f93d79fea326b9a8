import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { unlessAborted, unlimitedDisk, type DiskSpace } from '@svc/runtime';
import { assertDiskRoom, isDiskFull } from '../../domain/disk-room.ts';
import { sandboxErrors } from '../../errors.ts';
import type { ImageCatalog, ImageEntry } from '../../domain/images/catalog.ts';
import type { ImageSettings } from '../../domain/images/image-settings.ts';
import { fetchFromSources } from './preparation.ts';
import { ProgressBoard, stillPreparing, type ImageProgress } from '../../domain/images/progress.ts';
import type { RegistrySource } from './sources/image-source.ts';
import { adoptEarlierLayout } from './disk/earlier-layout.ts';
import { collectGarbage, type GarbageReport } from './disk/collect-garbage.ts';
import { namesIn, sweepUnfinished } from './disk/files.ts';
import { ImageRecords, type ImageRecord, type NameRecord } from './disk/image-records.ts';
import { LayerStore, nameOfDigest } from './disk/layer-store.ts';
import type { UnpackLayer } from './disk/layer-unpacker.ts';
import { PartialFiles } from './disk/partial-files.ts';
import { isTokenAlive } from './disk/process-token.ts';
import { References } from './disk/references.ts';

export interface PreparedImage {
  /** `sha256-…` of the image's manifest, or of the archive it was built from. */
  readonly digest: string;
  /** Absolute paths of its unpacked layers in overlayfs format, uppermost first; never written to. */
  readonly layers: readonly string[];
  readonly settings: ImageSettings;
}

export interface PulledImage {
  readonly digest: string;
  /** False if the source still has the version stored here. */
  readonly changed: boolean;
  readonly source: string;
  readonly bytes: number;
}

export interface StoredImage extends NameRecord {
  readonly layers: number;
  readonly bytes: number;
  /** Whether sandboxes need it. */
  readonly inUse: boolean;
}

export interface ImageStoreOptions {
  readonly folder: string;
  readonly catalog: ImageCatalog;
  /** The folder of the sandboxes that use the images; their holds expire with it. */
  readonly owner: string;
  readonly unpack: UnpackLayer;
  /** Closed with the store. */
  readonly registry: RegistrySource;
  readonly nowMs: () => number;
  readonly maxImageBytes: number;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Free space on the data folder's disk, minus the reserve. Defaults to unlimited. */
  readonly disk?: DiskSpace;
  /** Logs finished preparations and failed collections. */
  readonly log?: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

interface Preparation {
  readonly done: Promise<PulledImage>;
  readonly board: ProgressBoard;
}

const FOLDERS = ['layers', 'images', 'names', 'holds', 'leases', 'partial', 'work'];
const MAX_ENTRIES = 1_000_000;
/** As many as the launcher mounts, with room for the image of a sandbox's own. */
const MAX_BUILT_LAYERS = 120;
/** A prepared image may be collected before it is held; if that keeps happening, it is an error. */
const MAX_ATTEMPTS = 3;

/**
 * Images on this machine. Layers are unpacked once and shared. A name refers to an image; images without a name or a
 * sandbox are removed. All changes are atomic renames, and several processes may share the folder.
 */
export class ImageStore {
  readonly #options: ImageStoreOptions;
  readonly #disk: DiskSpace;
  readonly #catalog: ImageCatalog;
  readonly #records: ImageRecords;
  readonly #layers: LayerStore;
  readonly #partials: PartialFiles;
  readonly #references: References;
  readonly #running = new Map<string, Preparation>();
  readonly #stopped = new AbortController();
  #collecting: Promise<unknown> = Promise.resolve();

  constructor(options: ImageStoreOptions) {
    const { folder, catalog, owner, unpack, maxImageBytes } = options;
    this.#options = options;
    this.#disk = options.disk ?? unlimitedDisk;
    this.#catalog = catalog;
    this.#records = new ImageRecords(folder);
    this.#layers = new LayerStore(folder, unpack, { maxBytes: maxImageBytes, maxEntries: MAX_ENTRIES });
    this.#partials = new PartialFiles(folder, options.nowMs);
    this.#references = new References(folder, owner);
  }

  /** Creates the folders and removes leftovers of interrupted processes. */
  async open(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of FOLDERS) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    await adoptEarlierLayout(folder, this.#records);
    for (const name of await namesIn(join(folder, 'work'))) {
      if (!isTokenAlive(name.split('-')[0] ?? ''))
        // The unpacker of a killed process may still be running.
        await rm(join(folder, 'work', name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
    await sweepUnfinished(join(folder, 'names'));
    await this.#partials.sweep();
  }

  /**
   * Returns the image, preparing it if needed. Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED, whose message lists every
   * source.
   */
  async prepare(name: string, signal: AbortSignal): Promise<PreparedImage> {
    const entry = this.#entry(name);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const cached = await this.#cached(entry);
      if (cached !== null) return cached;
      await this.#await(this.#begin(entry), entry, signal);
    }
    throw sandboxErrors.IMAGE_PULL_FAILED({
      details: { image: entry.name, reason: 'the image was repeatedly removed while it was prepared' },
    });
  }

  /** Like `prepare`, and keeps the image for a sandbox until `release`. */
  async claim(holder: string, name: string, signal: AbortSignal): Promise<PreparedImage> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { digest } = await this.prepare(name, signal);
      await this.#references.hold(holder, digest);
      const held = await this.byDigest(digest);
      if (held !== null) return held;
    }
    throw sandboxErrors.IMAGE_PULL_FAILED({
      details: { image: name, reason: 'the image was repeatedly removed while it was prepared' },
    });
  }

  /** Like `claim`, for an image prepared earlier; null if it is gone. */
  async claimDigest(holder: string, digest: string): Promise<PreparedImage | null> {
    await this.#references.hold(holder, digest);
    return this.byDigest(digest);
  }

  /**
   * Adds an image that another machine stored under this digest, as one layer. Claim it again afterwards: until then it
   * may be collected. Throws IMAGE_PULL_FAILED and HOST_DISK_FULL.
   */
  async adopt(digest: string, settings: ImageSettings, content: Readable, signal: AbortSignal): Promise<void> {
    const release = await this.#references.lease();
    // The other machine has admitted each of its layers.
    const limits = {
      maxBytes: this.#options.maxImageBytes * MAX_BUILT_LAYERS,
      maxEntries: MAX_ENTRIES * MAX_BUILT_LAYERS,
    };
    try {
      const layer = await this.#layers.add(
        { diffId: null, limits, disk: this.#disk, open: async () => content },
        signal,
      );
      await this.#records.writeImage({ digest, layers: [layer], settings });
    } catch (error) {
      signal.throwIfAborted();
      if (isDiskFull(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: digest, reason }, cause: error });
    } finally {
      content.destroy();
      await release();
    }
  }

  /** Adds a layer to an image and holds the result. Without changes, that is the image itself. Throws HOST_DISK_FULL. */
  async extend(
    holder: string,
    base: string,
    open: () => Promise<Readable>,
    signal: AbortSignal,
  ): Promise<{ digest: string; sizeBytes: number }> {
    const release = await this.#references.lease();
    try {
      const record = await this.#records.image(base);
      if (record === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
      const layer = await this.#layers.add({ diffId: null, disk: this.#disk, open }, signal);
      if (layer.entries > 0 && record.layers.length >= MAX_BUILT_LAYERS) {
        const reason = `it has more than ${MAX_BUILT_LAYERS} layers; join steps`;
        throw sandboxErrors.ROOTFS_FAILED({ details: { reason } });
      }
      const layers = layer.entries === 0 ? record.layers : [...record.layers, layer];
      const digest = layer.entries === 0 ? base : await this.#writeBuilt(layers, record.settings);
      await this.#references.hold(holder, digest);
      return { digest, sizeBytes: layer.entries === 0 ? 0 : layer.bytes };
    } finally {
      await release();
    }
  }

  /** Makes an image with the same layers and other settings, and holds it. Its digest depends on the scope, too. */
  async configure(holder: string, base: string, settings: ImageSettings, scope: string): Promise<string> {
    const release = await this.#references.lease();
    try {
      const record = await this.#records.image(base);
      if (record === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
      const digest = await this.#writeBuilt(record.layers, settings, scope);
      await this.#references.hold(holder, digest);
      return digest;
    } finally {
      await release();
    }
  }

  async #writeBuilt(layers: ImageRecord['layers'], settings: ImageSettings, scope?: string): Promise<string> {
    const names = layers.map(({ name }) => name);
    const digest = `built-${createHash('sha256')
      .update(JSON.stringify([names, settings, ...(scope === undefined ? [] : [scope])]))
      .digest('hex')}`;
    await this.#records.writeImage({ digest, layers, settings });
    return digest;
  }

  /** Releases a sandbox's image, which is removed if nothing else needs it. */
  async release(holder: string): Promise<void> {
    const digest = await this.#references.release(holder);
    if (digest === null) return;
    const named = (await this.#records.names()).some((record) => record.digest === digest);
    if (!named) this.#collectBehind();
  }

  /** Declares which sandboxes need which images; with `exactly`, removes all other holders of this owner. */
  declare(holders: ReadonlyMap<string, string>, options: { exactly: boolean }): Promise<void> {
    return this.#references.declare(holders, options);
  }

  /** Asks the sources again, because a tag may refer to a newer image. Throws like `prepare`. */
  async pull(name: string, signal: AbortSignal, listener?: (progress: ImageProgress) => void): Promise<PulledImage> {
    const entry = this.#entry(name);
    return this.#await(this.#begin(entry, listener), entry, signal);
  }

  async isCached(entry: ImageEntry): Promise<boolean> {
    return (await this.#cached(entry)) !== null;
  }

  /** Digest of the name's stored image, without preparing it; null if it is missing. */
  async findDigest(name: string): Promise<string | null> {
    return (await this.#cached(this.#entry(name)))?.digest ?? null;
  }

  /** Progress of an image, by name or alias, while this process prepares it. */
  findProgress(name: string): ImageProgress | null {
    const entry = this.#catalog.find(name);
    return entry === null ? null : (this.#running.get(entry.name)?.board.current ?? null);
  }

  /** The unpacked image of a digest prepared earlier; null if it or one of its layers is missing. */
  async byDigest(digest: string): Promise<PreparedImage | null> {
    const record = await this.#records.image(digest);
    if (record === null) return null;
    const found = await Promise.all(record.layers.map(({ name }) => this.#layers.find(name)));
    if (found.includes(null)) return null;
    const layers = record.layers.map(({ name }) => this.#layers.treeOf(name)).reverse();
    return { digest, layers, settings: record.settings };
  }

  /** What the layers of an image contain together; null if it is missing. */
  async measure(digest: string): Promise<{ bytes: number; entries: number } | null> {
    const record = await this.#records.image(digest);
    if (record === null) return null;
    const sum = (of: 'bytes' | 'entries'): number => record.layers.reduce((total, layer) => total + layer[of], 0);
    return { bytes: sum('bytes'), entries: sum('entries') };
  }

  async list(): Promise<StoredImage[]> {
    const held = await this.#references.held();
    const images: StoredImage[] = [];
    for (const { key: _, ...record } of await this.#records.names()) {
      const image = await this.#records.image(record.digest);
      const bytes = image?.layers.reduce((sum, layer) => sum + layer.bytes, 0) ?? 0;
      images.push({ ...record, layers: image?.layers.length ?? 0, bytes, inUse: held.has(record.digest) });
    }
    return images.sort((one, other) => one.name.localeCompare(other.name));
  }

  /**
   * Removes a name. Images that sandboxes need stay until the sandboxes are gone. Returns false if the name is unknown.
   */
  async forget(nameOrAlias: string): Promise<boolean> {
    const name = this.#catalog.find(nameOrAlias)?.name ?? nameOrAlias;
    const found = (await this.#records.names()).filter((record) => record.name === name);
    for (const { key } of found) await this.#records.removeName(key);
    return found.length > 0;
  }

  /** Removes everything that is no longer needed. */
  collect(): Promise<GarbageReport> {
    const deps = { records: this.#records, layers: this.#layers, references: this.#references };
    const collected = this.#collecting.then(() => collectGarbage(deps));
    this.#collecting = collected.catch(() => undefined); // reported to the caller
    return collected;
  }

  /** Cancels pending preparations and waits for them. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('the platform is shutting down'));
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    await this.#collecting;
    await this.#options.registry.close();
  }

  #entry(name: string): ImageEntry {
    const entry = this.#catalog.find(name);
    if (entry !== null) return entry;
    throw sandboxErrors.UNKNOWN_IMAGE({ details: { image: name, supported_images: this.#catalog.names() } });
  }

  async #cached(entry: ImageEntry): Promise<PreparedImage | null> {
    const record = await this.#records.name(this.#records.keyOf(entry.name, entry.sources));
    return record === null ? null : this.byDigest(record.digest);
  }

  /** Starts one preparation shared by all callers; it continues when the first caller gives up. */
  #begin(entry: ImageEntry, listener: (progress: ImageProgress) => void = () => undefined): Promise<PulledImage> {
    const running = this.#running.get(entry.name);
    if (running !== undefined) return running.done;
    const board = new ProgressBoard(listener);
    const done = this.#make(entry, board).finally(() => this.#running.delete(entry.name));
    done.catch(() => undefined); // reported to the waiters; having none left is not an error
    this.#running.set(entry.name, { done, board });
    return done;
  }

  async #make(entry: ImageEntry, progress: ProgressBoard): Promise<PulledImage> {
    const { folder, sleep, maxImageBytes, registry, nowMs, log } = this.#options;
    const startedAtMs = nowMs();
    await assertDiskRoom(this.#disk, 0);
    const release = await this.#references.lease();
    try {
      const { image, source } = await fetchFromSources(entry, join(folder, 'work'), {
        signal: this.#stopped.signal,
        layers: this.#layers,
        partials: this.#partials,
        registry,
        progress,
        sleep,
        maxImageBytes,
      });
      const key = this.#records.keyOf(entry.name, entry.sources);
      const before = await this.#records.name(key);
      const digest = nameOfDigest(image.digest);
      await this.#records.writeImage(recordOf(digest, image));
      const preparedAt = new Date(nowMs()).toISOString();
      await this.#records.writeName(key, { name: entry.name, digest, source, preparedAt });
      const bytes = image.layers.reduce((sum, layer) => sum + layer.bytes, 0);
      const facts = { image: entry.name, digest, source, layers: image.layers.length, bytes };
      log?.info({ ...facts, duration_ms: nowMs() - startedAtMs }, 'image is ready');
      return { digest, changed: before?.digest !== digest, source, bytes };
    } finally {
      await release();
      this.#collectBehind();
    }
  }

  /** Collects in the background; the next preparation or start retries failures. */
  #collectBehind(): void {
    if (this.#stopped.signal.aborted) return;
    this.collect().catch((error: unknown) => this.#options.log?.warn({ err: error }, 'images could not be collected'));
  }

  #await(done: Promise<PulledImage>, entry: ImageEntry, signal: AbortSignal): Promise<PulledImage> {
    return unlessAborted(done, signal, () => {
      const progress = this.findProgress(entry.name);
      return sandboxErrors.IMAGE_PULL_FAILED({ details: { image: entry.name, reason: stillPreparing(progress) } });
    });
  }
}

function recordOf(digest: string, { layers, settings }: Omit<ImageRecord, 'digest'>): ImageRecord {
  return { digest, layers, settings };
}
