import { dirname, join } from 'node:path';
import { type Clock, type DiskSpace, FairSlots, unlimitedDisk } from '@svc/runtime';
import { slowDown, storeErrors } from '../../../errors.ts';
import type {
  BlobEntry,
  BlobId,
  BlobPlace,
  BlobStore,
  BlobWriter,
  ReadRange,
} from '../../../domain/ports/blob-store.ts';
import { FileBlobWriter } from './blob-writer.ts';
import { BufferPool } from './buffer-pool.ts';
import { isMissing, toStoreError } from './failures.ts';
import { nodeFileSystem, type FileSystem } from './file-system.ts';
import { parseBlobId, createIdSource, isShard, createLayout, type Layout } from './layout.ts';
import { readFileRange } from './read-file.ts';

export interface EmbeddedBlobStoreOptions {
  folder: string;
  random: (size: number) => Buffer;
  clock: Clock;
  /** Checked before bytes are written. Unlimited by default. */
  disk?: DiskSpace;
  /** Workspaces with the same share take turns as one. By default each workspace has its own share. */
  shareOf?: (workspaceUuid: string) => string;
  /** Called with the time each blob write waited for its turn. */
  onWriteWaited?: (waitedMs: number) => void;
  /** Defaults to the machine's file system. */
  fileSystem?: FileSystem;
}

const READ_BUFFER_BYTES = 512 * 1024;
const IDLE_READ_BUFFERS = 16;
/**
 * Writes and syncs that run at once: one fewer than libuv's threads. Libuv serves its queue in order of arrival, so
 * waiting work queues here, where turns are fair. One workspace cannot take the last slot, so a second one meets
 * neither a queue here nor a deep disk queue.
 */
const WRITES_AT_ONCE = 3;
const WRITES_OF_WORKSPACE = 2;
/** Uploads in flight are bounded elsewhere, and each has one write at a time. */
const MAX_WAITING_WRITES = 16_384;

const FOLDER_ID_BYTES = 16;
const SHORT_TEXT_BYTES = 256;

/** The queue key of writes that belong to no workspace, such as those of a restore. */
const OWN_WRITES = '';

/** Opens a store of blobs as files on the local disk. Throws `FolderNotUsable` when the folder is not writable. */
export async function openEmbeddedBlobStore(options: EmbeddedBlobStoreOptions): Promise<BlobStore> {
  const layout = createLayout(options.folder);
  const files = options.fileSystem ?? nodeFileSystem();
  await assertUsable(layout, files);
  return new EmbeddedBlobStore(layout, files, options);
}

async function assertUsable(layout: Layout, files: FileSystem): Promise<void> {
  try {
    for (const folder of [layout.blobs, layout.unsealed, layout.quarantine]) await files.mkdir(folder);
    const probe = join(layout.unsealed, 'probe');
    await writeText(files, probe, 'x');
    await files.unlink(probe);
    // A synced blob would still be lost with its folder if the folder's own entry is not synced.
    for (const folder of [layout.root, dirname(layout.root)]) await syncFolder(files, folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw storeErrors.FolderNotUsable({ cause, details: { folder: layout.root, reason } });
  }
}

class EmbeddedBlobStore implements BlobStore {
  readonly #layout: Layout;
  readonly #files: FileSystem;
  readonly #random: (size: number) => Buffer;
  readonly #nextId: () => BlobId;
  readonly #clock: Clock;
  readonly #disk: DiskSpace;
  readonly #writes: FairSlots;
  readonly #pool = new BufferPool(READ_BUFFER_BYTES, IDLE_READ_BUFFERS);
  /** Sealed files whose handles are being closed. */
  readonly #closing = new Set<Promise<void>>();
  /** Shards known to exist durably. Bounded by the number of shards. */
  readonly #shards = new Set<string>();

  constructor(layout: Layout, files: FileSystem, options: EmbeddedBlobStoreOptions) {
    this.#layout = layout;
    this.#files = files;
    this.#random = options.random;
    this.#nextId = createIdSource(options.random);
    this.#clock = options.clock;
    this.#disk = options.disk ?? unlimitedDisk;
    this.#writes = new FairSlots({
      capacity: WRITES_AT_ONCE,
      capacityPerKey: WRITES_OF_WORKSPACE,
      maxWaiting: MAX_WAITING_WRITES,
      refuse: () => slowDown(1),
      ...(options.shareOf === undefined ? {} : { groupOf: options.shareOf }),
      ...(options.onWriteWaited === undefined ? {} : { onGranted: options.onWriteWaited }),
    });
  }

  create(expectedBytes = 0, place?: BlobPlace): Promise<BlobWriter> {
    return this.#open(this.#nextId(), expectedBytes, place?.workspaceUuid ?? OWN_WRITES);
  }

  createAs(id: BlobId, expectedBytes = 0): Promise<BlobWriter> {
    return this.#open(id, expectedBytes, OWN_WRITES);
  }

  async #open(id: BlobId, expectedBytes: number, workspaceUuid: string): Promise<BlobWriter> {
    if (!(await this.#disk.hasRoom(expectedBytes))) throw storeErrors.InsufficientStorage();
    const unsealedFile = this.#layout.unsealedFile(id);
    const shardFolder = this.#layout.shardFolder(id);
    try {
      return new FileBlobWriter({
        id,
        files: this.#files,
        handle: await this.#files.open(unsealedFile, 'wx'),
        unsealedFile,
        blobFile: this.#layout.blobFile(id),
        openFolder: async () => {
          await this.#prepareShard(shardFolder);
          return await this.#files.open(shardFolder, 'r');
        },
        closeLater: (closing) => this.#closeLater(closing),
        assertRoom: (sizeBytes) => this.#assertRoom(sizeBytes),
        inTurn: (work) => this.#writes.run(workspaceUuid, work),
      });
    } catch (error) {
      throw toStoreError(error);
    }
  }

  read(id: BlobId, range: ReadRange): AsyncIterable<Uint8Array> {
    return readFileRange(this.#files, this.#layout.blobFile(id), range, this.#pool);
  }

  async size(id: BlobId): Promise<number | null> {
    const found = await this.#stat(this.#layout.blobFile(id));
    return found?.size ?? null;
  }

  async remove(id: BlobId): Promise<void> {
    try {
      await this.#files.unlink(this.#layout.blobFile(id));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async quarantine(id: BlobId): Promise<void> {
    try {
      await this.#files.rename(this.#layout.blobFile(id), this.#layout.quarantineFile(id));
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    await syncFolder(this.#files, this.#layout.quarantine);
    await syncFolder(this.#files, this.#layout.shardFolder(id));
  }

  async *list(): AsyncIterable<BlobEntry> {
    for await (const shard of this.#files.names(this.#layout.blobs)) {
      if (!isShard(shard)) continue;
      for await (const name of this.#files.names(join(this.#layout.blobs, shard))) {
        const id = parseBlobId(name);
        const found = id === null ? null : await this.#stat(join(this.#layout.blobs, shard, name));
        if (id !== null && found !== null) yield { id, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
      }
    }
  }

  async sweepUnsealed(olderThanMs: number): Promise<number> {
    let removed = 0;
    const before = this.#clock.nowMs() - olderThanMs;
    for await (const name of this.#files.names(this.#layout.unsealed)) {
      const path = join(this.#layout.unsealed, name);
      const found = await this.#stat(path);
      if (found === null || found.mtimeMs > before) continue;
      await this.#files.unlink(path);
      removed += 1;
    }
    return removed;
  }

  /** Stays with the folder, also when it is moved to another machine. */
  async folderId(): Promise<string> {
    const { folderId, root, unsealed } = this.#layout;
    try {
      const found = await readText(this.#files, folderId);
      if (found !== null) return found.trim();
      const id = this.#random(FOLDER_ID_BYTES).toString('hex');
      const draft = join(unsealed, 'folder-id');
      await writeText(this.#files, draft, `${id}\n`);
      await this.#files.rename(draft, folderId);
      await syncFolder(this.#files, root);
      return id;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async check(): Promise<void> {
    // Fails only when nothing but the reserve is left, which blocks writes; reads and deletes still work.
    if ((await this.#files.freeBytes(this.#layout.root)) === 0) throw storeErrors.InsufficientStorage();
  }

  async close(): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #stat(path: string): Promise<{ size: number; mtimeMs: number } | null> {
    try {
      return await this.#files.stat(path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async #prepareShard(folder: string): Promise<void> {
    if (this.#shards.has(folder)) return;
    await this.#files.mkdir(folder);
    await syncFolder(this.#files, this.#layout.blobs);
    this.#shards.add(folder);
  }

  #closeLater(closing: Promise<void>): void {
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  async #assertRoom(sizeBytes: number): Promise<void> {
    if (!(await this.#disk.take(sizeBytes))) throw storeErrors.InsufficientStorage();
  }
}

/** Writes a new file and makes its bytes durable, but not its name. A file left by an earlier start is replaced. */
async function writeText(files: FileSystem, file: string, text: string): Promise<void> {
  await files.unlink(file).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  const handle = await files.open(file, 'wx');
  try {
    await handle.writev([Buffer.from(text)]);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Reads a file of a few bytes; null when there is none. */
async function readText(files: FileSystem, file: string): Promise<string | null> {
  const handle = await files.open(file, 'r').catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (handle === null) return null;
  try {
    const buffer = Buffer.alloc(SHORT_TEXT_BYTES);
    const length = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, length);
  } finally {
    await handle.close();
  }
}

/** Makes the folder's entries durable. */
async function syncFolder(files: FileSystem, folder: string): Promise<void> {
  const handle = await files.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
