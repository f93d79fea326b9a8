import type {
  BlobEntry,
  BlobId,
  BlobPlace,
  BlobStore,
  BlobWriter,
  ReadRange,
} from '../../../domain/ports/blob-store.ts';
import { BlobKeys, newBlobId } from './blob-keys.ts';
import { S3BlobWriter } from './blob-writer.ts';
import { isAbsent, toStoreError } from './failures.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { S3EngineOptions } from './options.ts';
import { readObject } from './read-object.ts';
import { Upstream } from './upstream.ts';

/** S3's limit on parts per upload. */
const MOST_PARTS = 10_000;

export function createS3BlobStore(options: S3EngineOptions): BlobStore {
  return new S3BlobStore(options);
}

class S3BlobStore implements BlobStore {
  readonly #options: S3EngineOptions;
  readonly #upstream: Upstream;
  readonly #keys: BlobKeys;
  readonly #memory: MemoryBudget;

  constructor(options: S3EngineOptions) {
    this.#options = options;
    this.#upstream = new Upstream(options);
    this.#keys = new BlobKeys(options.prefix);
    this.#memory = new MemoryBudget(options.uploadMemoryBytes);
  }

  create(expectedBytes?: number, place?: BlobPlace): Promise<BlobWriter> {
    return this.#open(newBlobId(this.#options.random, place), expectedBytes);
  }

  createAs(id: BlobId, expectedBytes?: number): Promise<BlobWriter> {
    return this.#open(id, expectedBytes);
  }

  read(id: BlobId, range: ReadRange): AsyncIterable<Uint8Array> {
    return readObject(this.#upstream, this.#keys.keyOf(id), range);
  }

  async size(id: BlobId): Promise<number | null> {
    try {
      return (await this.#upstream.head(this.#keys.keyOf(id))).ContentLength ?? 0;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw toStoreError(error);
    }
  }

  async remove(id: BlobId): Promise<void> {
    try {
      await this.#upstream.remove(this.#keys.keyOf(id));
    } catch (error) {
      if (!isAbsent(error)) throw toStoreError(error);
    }
  }

  /** Moves the blob to a key that no read uses. */
  async quarantine(id: BlobId): Promise<void> {
    try {
      await this.#upstream.copy(this.#keys.keyOf(id), this.#keys.quarantineKeyOf(id));
      await this.#upstream.remove(this.#keys.keyOf(id));
    } catch (error) {
      if (!isAbsent(error)) throw toStoreError(error);
    }
  }

  async *list(): AsyncIterable<BlobEntry> {
    for (let token: string | undefined; ;) {
      const page = await this.#callUpstream(() => this.#upstream.list(this.#keys.blobs, token));
      for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
        const id = this.#keys.parseId(Key);
        if (id !== null)
          yield { id, sizeBytes: Size, modifiedAtMs: LastModified?.getTime() ?? this.#options.clock.nowMs() };
      }
      token = page.NextContinuationToken;
      if (token === undefined) return;
    }
  }

  async sweepUnsealed(olderThanMs: number): Promise<number> {
    const before = this.#options.clock.nowMs() - olderThanMs;
    let removed = 0;
    let keyMarker: string | undefined;
    let uploadMarker: string | undefined;
    do {
      const page = await this.#callUpstream(() =>
        this.#upstream.listUploads(this.#keys.blobs, keyMarker, uploadMarker),
      );
      for (const { Key = '', UploadId = '', Initiated } of page.Uploads ?? []) {
        if (this.#keys.parseId(Key) === null || (Initiated?.getTime() ?? before) > before) continue;
        if (await this.#abort(Key, UploadId)) removed += 1;
      }
      const more = page.IsTruncated === true;
      keyMarker = more ? page.NextKeyMarker : undefined;
      uploadMarker = more ? page.NextUploadIdMarker : undefined;
    } while (keyMarker !== undefined);
    return removed;
  }

  folderId(): Promise<null> {
    return Promise.resolve(null);
  }

  async check(): Promise<void> {
    await this.#callUpstream(() => this.#upstream.headBucket());
  }

  async close(): Promise<void> {
    this.#upstream.close();
  }

  async #open(id: BlobId, expectedBytes?: number): Promise<BlobWriter> {
    const partBytes = Math.max(this.#options.partBytes, Math.ceil((expectedBytes ?? 0) / MOST_PARTS));
    // A blob that fits into one request is held once and joined once; otherwise one part is sent while the next is
    // gathered.
    const needed = Math.min(expectedBytes ?? Number.MAX_SAFE_INTEGER, partBytes) * 2;
    const release = await this.#memory.take(needed);
    return new S3BlobWriter({ id, key: this.#keys.keyOf(id), upstream: this.#upstream, partBytes, release });
  }

  async #abort(key: string, uploadId: string): Promise<boolean> {
    try {
      await this.#upstream.abortUpload(key, uploadId);
      return true;
    } catch (error) {
      if (isAbsent(error)) return false; // it ended in the meantime
      throw toStoreError(error);
    }
  }

  async #callUpstream<Result>(request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}
