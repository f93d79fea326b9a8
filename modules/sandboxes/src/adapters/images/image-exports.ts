import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FairSlots, KeyedQueue, unlessAborted, type DiskSpace } from '@svc/runtime';
import { assertDiskRoomAhead, takingDiskRoom } from '../../domain/disk-room.ts';
import type { ImageSettings } from '../../domain/images/image-settings.ts';
import { sandboxErrors } from '../../errors.ts';
import { ImageRecords, type ImageRecord } from './disk/image-records.ts';
import { isMissing, isThere, readIfThere, writeWhole } from './disk/files.ts';
import { hashing } from './disk/layer-unpacker.ts';
import { ownToken } from './disk/process-token.ts';
import { References } from './disk/references.ts';
import { packAlone } from './pack-layers.ts';

/** An image in the form in which registries serve it. */
export interface ImageExport {
  readonly manifest: { readonly mediaType: string; readonly digest: string; readonly content: string };
  readonly config: { readonly digest: string; readonly content: string };
  readonly layers: readonly ExportedLayer[];
}

interface ExportedLayer {
  /** Name of the layer in the store. */
  readonly name: string;
  /** `sha256:<hex>` of the compressed archive. */
  readonly digest: string;
  /** `sha256:<hex>` of the archive. */
  readonly diffId: string;
  readonly sizeBytes: number;
}

export interface ImageExportsOptions {
  /** Folder of the image store. */
  readonly folder: string;
  /** As for the image store. */
  readonly owner: string;
  /** Path of the program that packs layers. */
  readonly packer: () => Promise<string>;
  readonly disk: DiskSpace;
  /** Returns the owner of a workspace. */
  readonly shareOf: (workspaceUuid: string) => string;
}

/** Work for one image. */
interface Packing {
  readonly done: Promise<ImageExport | null>;
  readonly abandoned: AbortController;
  waiters: number;
}

const OCI = 'application/vnd.oci.image';
/** The fastest: a pod waits for it. */
const GZIP_LEVEL = 1;
const LIMIT_MS = 30 * 60_000;
/** Packing keeps a processor busy. */
const PARALLEL_EXPORTS = 2;
/** The other one serves other owners. */
const PARALLEL_EXPORTS_OF_OWNER = 1;
const MAX_WAITING = 1_024;
const MAX_WAITING_OF_WORKSPACE = 32;
const MAX_WAITING_OF_OWNER = 64;
const RETRY_AFTER_SECONDS = 30;
/** In the place of a workspace: images of the catalog belong to none. */
const CATALOG = 'catalog';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Images of the store as OCI images (image-spec 1.1). The store keeps layers unpacked, so each is packed once, on first use, and
 * kept beside it: `layers/<name>/blob-<hex>.gz`. Both are collected together, as are an image and its `export.json`. Owners and
 * their workspaces take turns, and so does the catalog.
 */
export class ImageExports {
  readonly #options: ImageExportsOptions;
  readonly #records: ImageRecords;
  readonly #references: References;
  readonly #running = new Map<string, Packing>();
  /** Those above, and those that end without a waiter. */
  readonly #unended = new Set<Promise<unknown>>();
  readonly #slots: FairSlots;
  /** By name of the layer: images share some. */
  readonly #layers = new KeyedQueue();
  readonly #stopped = new AbortController();

  constructor(options: ImageExportsOptions) {
    this.#options = options;
    this.#records = new ImageRecords(options.folder);
    this.#references = new References(options.folder, options.owner);
    this.#slots = new FairSlots({
      capacity: PARALLEL_EXPORTS,
      capacityPerGroup: PARALLEL_EXPORTS_OF_OWNER,
      maxWaiting: MAX_WAITING,
      maxItemsPerKey: MAX_WAITING_OF_WORKSPACE,
      maxItemsPerGroup: MAX_WAITING_OF_OWNER,
      groupOf: (key) => (key === CATALOG ? CATALOG : options.shareOf(key)),
      refuse: () => sandboxErrors.IMAGES_BUSY({ headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } }),
    });
  }

  /**
   * Returns the image, made if needed; null if the store does not have it. Callers that need the same image share the work, which
   * ends with the last of them. `workspaceUuid`: whose turn it takes; null for an image of the catalog. Throws IMAGES_BUSY.
   */
  async get(image: string, workspaceUuid: string | null, signal: AbortSignal): Promise<ImageExport | null> {
    const known = await this.find(image);
    if (known !== null) return known;
    signal.throwIfAborted();
    const packing = this.#running.get(image) ?? this.#begin(image, workspaceUuid ?? CATALOG);
    packing.waiters += 1;
    try {
      return await unlessAborted(packing.done, signal, () => new Error('it is still being packed; try again'));
    } finally {
      packing.waiters -= 1;
      if (packing.waiters === 0) this.#abandon(image, packing);
    }
  }

  /** Returns the image if it was made before, and nothing of it is gone. */
  async find(image: string): Promise<ImageExport | null> {
    if ((await this.#records.image(image)) === null) return null;
    const text = await readIfThere(this.#recordOf(image));
    if (text === null) return null;
    const found = JSON.parse(text) as ImageExport; // written by #make
    const whole = await Promise.all(found.layers.map((layer) => isThere(this.#blobOf(layer))));
    return whole.includes(false) ? null : found;
  }

  /** Opens a layer of the image; null if it has none with this digest. The receiver closes the file. */
  async openLayer(image: ImageExport, digest: string): Promise<{ handle: FileHandle; sizeBytes: number } | null> {
    const layer = image.layers.find((each) => each.digest === digest);
    if (layer === undefined) return null;
    try {
      return { handle: await open(this.#blobOf(layer)), sizeBytes: layer.sizeBytes };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Ends the work and waits for it. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('the platform is shutting down'));
    await Promise.allSettled(this.#unended);
  }

  #begin(image: string, turn: string): Packing {
    const abandoned = new AbortController();
    const ended = AbortSignal.any([this.#stopped.signal, abandoned.signal]);
    const done = this.#slots.run(turn, () => this.#make(image, ended), ended).finally(() => this.#unended.delete(done));
    done.catch(() => undefined); // reported to the waiters
    this.#unended.add(done);
    const packing = { done, abandoned, waiters: 0 };
    this.#running.set(image, packing);
    return packing;
  }

  /** Has no effect on work that is done. */
  #abandon(image: string, packing: Packing): void {
    if (this.#running.get(image) === packing) this.#running.delete(image);
    packing.abandoned.abort(new Error('its last waiter is gone'));
  }

  async #make(image: string, ended: AbortSignal): Promise<ImageExport | null> {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(LIMIT_MS)]);
    signal.throwIfAborted();
    const release = await this.#references.lease();
    try {
      const record = await this.#records.image(image);
      if (record === null) return null;
      const layers: ExportedLayer[] = [];
      for (const layer of record.layers) {
        layers.push(await this.#layers.run(layer.name, () => this.#exportLayer(layer, signal), signal));
      }
      const made = describe(record.settings, layers);
      await writeWhole(this.#recordOf(image), JSON.stringify(made));
      return made;
    } finally {
      await release();
    }
  }

  async #exportLayer({ name, bytes }: ImageRecord['layers'][number], signal: AbortSignal): Promise<ExportedLayer> {
    const { folder, disk, packer } = this.#options;
    const record = join(folder, 'layers', name, 'blob.json');
    const text = await readIfThere(record);
    const known = text === null ? null : (JSON.parse(text) as ExportedLayer); // written below
    if (known !== null && (await isThere(this.#blobOf(known)))) return known;
    await assertDiskRoomAhead(disk, bytes);
    const work = join(folder, 'work', `${ownToken()}-${randomBytes(6).toString('hex')}`);
    await mkdir(work, { mode: 0o700 });
    try {
      const draft = join(work, 'blob.gz');
      const made = { name, ...(await this.#pack(await packer(), name, draft, signal)) };
      await rename(draft, this.#blobOf(made));
      await writeWhole(record, JSON.stringify(made));
      return made;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  async #pack(packer: string, name: string, draft: string, signal: AbortSignal): Promise<Omit<ExportedLayer, 'name'>> {
    const { archive, ended } = packAlone(packer, join(this.#options.folder, 'layers', name, 'tree'), signal);
    const [plain, packed] = [createHash('sha256'), createHash('sha256')];
    const gzip = createGzip({ level: GZIP_LEVEL });
    const room = (content: AsyncIterable<Buffer>) => takingDiskRoom(this.#options.disk, content);
    const file = createWriteStream(draft, { flush: true });
    await pipeline(archive, hashing(plain), gzip, room, hashing(packed), file, { signal });
    const complaint = await ended;
    if (complaint !== null) throw new Error(complaint);
    const { size } = await stat(draft);
    return { digest: `sha256:${packed.digest('hex')}`, diffId: `sha256:${plain.digest('hex')}`, sizeBytes: size };
  }

  #recordOf(image: string): string {
    return join(this.#options.folder, 'images', image, 'export.json');
  }

  /** The name has the digest: another process may pack the same layer to other bytes. */
  #blobOf({ name, digest }: Pick<ExportedLayer, 'name' | 'digest'>): string {
    return join(this.#options.folder, 'layers', name, `${digest.replace('sha256:', 'blob-')}.gz`);
  }
}

function describe(settings: ImageSettings, layers: readonly ExportedLayer[]): ImageExport {
  const config = describeContent({
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: 'linux',
    config: configOf(settings),
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const mediaType = `${OCI}.manifest.v1+json`;
  const manifest = describeContent({
    schemaVersion: 2,
    mediaType,
    config: { mediaType: `${OCI}.config.v1+json`, digest: config.digest, size: Buffer.byteLength(config.content) },
    layers: layers.map(({ digest, sizeBytes }) => ({ mediaType: `${OCI}.layer.v1.tar+gzip`, digest, size: sizeBytes })),
  });
  return { manifest: { mediaType, ...manifest }, config, layers };
}

/** The reverse of `readSettings`. */
function configOf({ environment, workingFolder, user, entrypoint, command }: ImageSettings): object {
  return {
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ...(workingFolder === null ? {} : { WorkingDir: workingFolder }),
    ...(user === null ? {} : { User: user }),
    ...(entrypoint.length === 0 ? {} : { Entrypoint: entrypoint }),
    ...(command.length === 0 ? {} : { Cmd: command }),
  };
}

function describeContent(document: object): { digest: string; content: string } {
  const content = JSON.stringify(document);
  return { digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, content };
}
