import { dirname, join } from 'node:path';
import { storeErrors } from '../../../errors.ts';
import type { BlobEntry, BlobId, BlobStore, BlobWriter, ReadRange } from '../../../domain/ports/blob-store.ts';
import { FileBlobWriter } from './blob-writer.ts';
import { BufferPool } from './buffer-pool.ts';
import { isMissing, toStoreError } from './failures.ts';
import { nodeFileSystem, type FileSystem } from './file-system.ts';
import { FolderSync, syncFolder } from './folder-sync.ts';
import { blobIdOf, createIdSource, isShard, layoutOf, type Layout } from './layout.ts';
import { readFileRange } from './read-file.ts';

export interface EmbeddedBlobStoreOptions {
  folder: string;
  random: (size: number) => Buffer;
  now: () => number;
  /** Left free for the database, so that a full disk can still be emptied by deletes. 64 MiB. */
  reserveBytes?: number;
  /** Default: the one of the machine. */
  fileSystem?: FileSystem;
}

const READ_BUFFER_BYTES = 512 * 1024;
const IDLE_READ_BUFFERS = 16;
const DEFAULT_RESERVE_BYTES = 64 * 1024 * 1024;
/** Below this a look at the free space costs more than it is worth. */
const SPACE_CHECK_BYTES = 1024 * 1024;

/** Blobs as files on the local disk. Throws `FolderNotUsable` when it cannot write there. */
export async function openEmbeddedBlobStore(options: EmbeddedBlobStoreOptions): Promise<BlobStore> {
  const layout = layoutOf(options.folder);
  const files = options.fileSystem ?? nodeFileSystem();
  await assertUsable(layout, files);
  return new EmbeddedBlobStore(layout, files, options);
}

async function assertUsable(layout: Layout, files: FileSystem): Promise<void> {
  try {
    for (const folder of [layout.blobs, layout.unsealed, layout.quarantine]) await files.mkdir(folder);
    const probe = join(layout.unsealed, 'probe');
    await files.unlink(probe).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    const handle = await files.open(probe, 'wx');
    try {
      await handle.writev([Buffer.from('x')]);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await files.unlink(probe);
    // A blob that is synced in a folder whose own name is not would be lost with that folder.
    for (const folder of [layout.root, dirname(layout.root)]) await syncFolder(files, folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw storeErrors.FolderNotUsable({ cause, details: { folder: layout.root, reason } });
  }
}

class EmbeddedBlobStore implements BlobStore {
  readonly #layout: Layout;
  readonly #files: FileSystem;
  readonly #nextId: () => BlobId;
  readonly #now: () => number;
  readonly #reserveBytes: number;
  readonly #folders: FolderSync;
  readonly #pool = new BufferPool(READ_BUFFER_BYTES, IDLE_READ_BUFFERS);
  /** Shards that exist durably; at most as many as there are. */
  readonly #shards = new Set<string>();

  constructor(layout: Layout, files: FileSystem, options: EmbeddedBlobStoreOptions) {
    this.#layout = layout;
    this.#files = files;
    this.#folders = new FolderSync(files);
    this.#nextId = createIdSource(options.random);
    this.#now = options.now;
    this.#reserveBytes = options.reserveBytes ?? DEFAULT_RESERVE_BYTES;
  }

  create(expectedBytes = 0): Promise<BlobWriter> {
    return this.createAs(this.#nextId(), expectedBytes);
  }

  async createAs(id: BlobId, expectedBytes = 0): Promise<BlobWriter> {
    if (expectedBytes >= SPACE_CHECK_BYTES) await this.#assertSpace(expectedBytes);
    const unsealedFile = this.#layout.unsealedFile(id);
    const shardFolder = this.#layout.shardFolder(id);
    try {
      return new FileBlobWriter({
        id,
        files: this.#files,
        handle: await this.#files.open(unsealedFile, 'wx'),
        unsealedFile,
        blobFile: this.#layout.blobFile(id),
        prepareFolder: () => this.#prepareShard(shardFolder),
        syncFolder: () => this.#folders.sync(shardFolder),
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
    await this.#folders.sync(this.#layout.quarantine);
    await this.#folders.sync(this.#layout.shardFolder(id));
  }

  async *list(): AsyncIterable<BlobEntry> {
    for await (const shard of this.#files.names(this.#layout.blobs)) {
      if (!isShard(shard)) continue;
      for await (const name of this.#files.names(join(this.#layout.blobs, shard))) {
        const id = blobIdOf(name);
        const found = id === null ? null : await this.#stat(join(this.#layout.blobs, shard, name));
        if (id !== null && found !== null) yield { id, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
      }
    }
  }

  async sweepUnsealed(olderThanMs: number): Promise<number> {
    let removed = 0;
    const before = this.#now() - olderThanMs;
    for await (const name of this.#files.names(this.#layout.unsealed)) {
      const path = join(this.#layout.unsealed, name);
      const found = await this.#stat(path);
      if (found === null || found.mtimeMs > before) continue;
      await this.#files.unlink(path);
      removed += 1;
    }
    return removed;
  }

  async check(): Promise<void> {
    await this.#assertSpace(0);
  }

  async close(): Promise<void> {
    // Files are open only while a writer or a reader has them.
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
    await this.#folders.sync(this.#layout.blobs);
    this.#shards.add(folder);
  }

  async #assertSpace(bytes: number): Promise<void> {
    const free = await this.#files.freeBytes(this.#layout.root);
    if (free < bytes + this.#reserveBytes) throw storeErrors.InsufficientStorage();
  }
}
