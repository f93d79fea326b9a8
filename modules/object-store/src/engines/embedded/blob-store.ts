import { mkdir, open, opendir, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { storeErrors } from '../../errors.ts';
import type { BlobEntry, BlobId, BlobStore, BlobWriter, ReadRange } from '../../ports/blob-store.ts';
import { FileBlobWriter, isMissing, toStoreError } from './blob-writer.ts';
import { BufferPool } from './buffer-pool.ts';
import { FolderSync } from './folder-sync.ts';
import { createIdSource, isBlobId, isShard, layoutOf, type Layout } from './layout.ts';
import { readFileRange } from './read-file.ts';

export interface EmbeddedBlobStoreOptions {
  folder: string;
  random: (size: number) => Buffer;
  now: () => number;
  /** Left free for the database, so that a full disk can still be emptied by deletes. 64 MiB. */
  reserveBytes?: number;
}

const READ_BUFFER_BYTES = 512 * 1024;
const IDLE_READ_BUFFERS = 16;
const DEFAULT_RESERVE_BYTES = 64 * 1024 * 1024;
/** Below this a look at the free space costs more than it is worth. */
const SPACE_CHECK_BYTES = 1024 * 1024;

/** Blobs as files on the local disk. Throws `FolderNotUsable` when it cannot write there. */
export async function openEmbeddedBlobStore(options: EmbeddedBlobStoreOptions): Promise<BlobStore> {
  const layout = layoutOf(options.folder);
  await assertUsable(layout);
  return new EmbeddedBlobStore(layout, options);
}

async function assertUsable(layout: Layout): Promise<void> {
  try {
    await mkdir(layout.blobs, { recursive: true, mode: 0o700 });
    await mkdir(layout.unsealed, { recursive: true, mode: 0o700 });
    const probe = join(layout.unsealed, 'probe');
    await writeFile(probe, 'x', { flush: true });
    await unlink(probe);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw storeErrors.FolderNotUsable({ cause, details: { folder: layout.root, reason } });
  }
}

class EmbeddedBlobStore implements BlobStore {
  readonly #layout: Layout;
  readonly #nextId: () => BlobId;
  readonly #now: () => number;
  readonly #reserveBytes: number;
  readonly #folders = new FolderSync();
  readonly #pool = new BufferPool(READ_BUFFER_BYTES, IDLE_READ_BUFFERS);
  /** Shards that exist durably; at most as many as there are. */
  readonly #shards = new Set<string>();

  constructor(layout: Layout, options: EmbeddedBlobStoreOptions) {
    this.#layout = layout;
    this.#nextId = createIdSource(options.random);
    this.#now = options.now;
    this.#reserveBytes = options.reserveBytes ?? DEFAULT_RESERVE_BYTES;
  }

  async create(expectedBytes = 0): Promise<BlobWriter> {
    if (expectedBytes >= SPACE_CHECK_BYTES) await this.#assertSpace(expectedBytes);
    const id = this.#nextId();
    const unsealedFile = this.#layout.unsealedFile(id);
    const shardFolder = this.#layout.shardFolder(id);
    try {
      return new FileBlobWriter({
        id,
        handle: await open(unsealedFile, 'wx', 0o600),
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
    return readFileRange(this.#layout.blobFile(id), range, this.#pool);
  }

  async size(id: BlobId): Promise<number | null> {
    const found = await stat(this.#layout.blobFile(id)).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    return found?.size ?? null;
  }

  async remove(id: BlobId): Promise<void> {
    try {
      await unlink(this.#layout.blobFile(id));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async *list(): AsyncIterable<BlobEntry> {
    for await (const shard of await opendir(this.#layout.blobs)) {
      if (!isShard(shard.name)) continue;
      for await (const file of await opendir(join(this.#layout.blobs, shard.name))) {
        if (!isBlobId(file.name)) continue;
        const found = await stat(join(this.#layout.blobs, shard.name, file.name)).catch(() => null);
        if (found !== null) yield { id: file.name, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
      }
    }
  }

  async sweepUnsealed(olderThanMs: number): Promise<number> {
    let removed = 0;
    const before = this.#now() - olderThanMs;
    for await (const file of await opendir(this.#layout.unsealed)) {
      const path = join(this.#layout.unsealed, file.name);
      const found = await stat(path).catch(() => null);
      if (found === null || found.mtimeMs > before) continue;
      await unlink(path);
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

  async #prepareShard(folder: string): Promise<void> {
    if (this.#shards.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#folders.sync(this.#layout.blobs);
    this.#shards.add(folder);
  }

  async #assertSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#layout.root);
    if (bavail * bsize < bytes + this.#reserveBytes) throw storeErrors.InsufficientStorage();
  }
}
