import type { BlobId, BlobWriter } from '../../../domain/ports/blob-store.ts';
import { isMissing, toStoreError } from './failures.ts';
import { DIRECT_WRITE_BYTES } from './direct-writes.ts';
import type { FileSystem, OpenFile } from './file-system.ts';

export interface FileBlobWriterOptions {
  id: BlobId;
  files: FileSystem;
  handle: OpenFile;
  unsealedFile: string;
  blobFile: string;
  /** Opens the folder of the final name, which exists durably by then. */
  openFolder(): Promise<OpenFile>;
  /** Throws `InsufficientStorage` when `sizeBytes` more would use up the disk's reserve. */
  assertRoom(sizeBytes: number): Promise<void>;
  /** Takes over files that still have to be closed. */
  closeLater(closing: Promise<void>): void;
  /** Runs disk work when it is the turn of the blob's workspace. */
  inTurn(work: () => Promise<void>): Promise<void>;
}

/** Gathers chunks to exactly 1 MiB and writes each batch in one call, one at a time, while gathering the next. */
export class FileBlobWriter implements BlobWriter {
  readonly #options: FileBlobWriterOptions;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Called once the gathered chunks are written. */
  #releases: (() => void)[] = [];
  /** The last write started; settles after all earlier ones. */
  #tail: Promise<void> = Promise.resolve();
  #handle: OpenFile | null;
  /** Started by `end`: the sync of the bytes, and the open of the final name's folder. */
  #ending: { synced: Promise<void>; folder: Promise<OpenFile> } | null = null;
  #sealed = false;

  constructor(options: FileBlobWriterOptions) {
    this.#options = options;
    this.#handle = options.handle;
  }

  write(chunk: Uint8Array, release?: () => void): Promise<void> | undefined {
    let waiting: Promise<void> | undefined;
    for (let start = 0; start < chunk.length;) {
      const end = Math.min(chunk.length, start + DIRECT_WRITE_BYTES - this.#gatheredBytes);
      this.#gathered.push(chunk.subarray(start, end));
      this.#gatheredBytes += end - start;
      start = end;
      if (start === chunk.length && release !== undefined) this.#releases.push(release);
      if (this.#gatheredBytes === DIRECT_WRITE_BYTES) waiting = this.#flush();
    }
    return waiting;
  }

  end(): void {
    if (this.#ending !== null) return;
    const handle = this.#openHandle();
    void this.#flush();
    const synced = this.#tail.then(() => this.#options.inTurn(() => handle.datasync()));
    const folder = this.#options.openFolder();
    for (const each of [synced, folder]) each.catch(() => undefined); // `seal` reports the error
    this.#ending = { synced, folder };
  }

  async seal(): Promise<BlobId> {
    const { id, files, unsealedFile, blobFile } = this.#options;
    this.#openHandle();
    try {
      this.end();
      await this.#ending?.synced;
      const folder = await this.#ending?.folder;
      await files.rename(unsealedFile, blobFile);
      this.#sealed = true;
      await this.#options.inTurn(async () => folder?.sync());
    } catch (error) {
      throw toStoreError(error);
    }
    this.#options.closeLater(this.#close());
    return id;
  }

  async abort(): Promise<void> {
    this.#gathered = [];
    await Promise.allSettled([this.#tail, this.#ending?.synced]); // `write` and `seal` report the error
    await this.#close();
    const { files, blobFile, unsealedFile } = this.#options;
    await files.unlink(this.#sealed ? blobFile : unsealedFile).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  #openHandle(): OpenFile {
    if (this.#handle === null) throw new Error('the blob was sealed or given up before');
    return this.#handle;
  }

  async #close(): Promise<void> {
    const file = this.#handle;
    this.#handle = null;
    const folder = await this.#ending?.folder.catch(() => null);
    await Promise.allSettled([file?.close(), folder?.close()]);
  }

  /** Starts the next write. Resolves when the previous one is done and more may be gathered. */
  #flush(): Promise<void> {
    const chunks = this.#gathered;
    const releases = this.#releases;
    const sizeBytes = this.#gatheredBytes;
    const previous = this.#tail;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#releases = [];
    this.#tail = previous.then(async () => {
      if (sizeBytes > 0) {
        // Checked inside the turn: waiting writes are not on disk yet, so an earlier measurement would miss them.
        await this.#options.inTurn(async () => {
          await this.#options.assertRoom(sizeBytes);
          await this.#writeAll(chunks);
        });
      }
      for (const release of releases) release();
    });
    this.#tail.catch(() => undefined); // the next write or the seal reports the error; after an abort it is ignored
    return previous;
  }

  async #writeAll(chunks: Uint8Array[]): Promise<void> {
    let rest = chunks.filter((chunk) => chunk.length > 0);
    try {
      while (rest.length > 0) {
        if (this.#handle === null) throw new Error('the file was closed under a write');
        rest = dropBytes(rest, await this.#handle.writev(rest));
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

function dropBytes(chunks: Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  let index = 0;
  for (; index < chunks.length; index += 1) {
    const length = chunks[index]?.length ?? 0;
    if (length > left) break;
    left -= length;
  }
  const rest = chunks.slice(index);
  const [partial] = rest;
  if (partial !== undefined && left > 0) rest[0] = partial.subarray(left);
  return rest;
}
