import type { BlobId, BlobWriter } from '../../../domain/ports/blob-store.ts';
import { toStoreError } from './failures.ts';
import type { UploadedPart, Upstream } from './upstream.ts';

export interface S3BlobWriterOptions {
  id: BlobId;
  key: string;
  upstream: Upstream;
  partBytes: number;
  /** Returns the memory reserved for the parts. */
  release(): void;
}

/**
 * Gathers one part while sending another; a blob that fits into one part needs one request. A failed part is resent
 * whole, so it stays in memory until the engine accepts it.
 */
export class S3BlobWriter implements BlobWriter {
  readonly #options: S3BlobWriterOptions;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #uploadId: string | null = null;
  readonly #parts: UploadedPart[] = [];
  /** The last part sent; settles after all earlier ones. */
  #tail: Promise<void> = Promise.resolve();
  #state: 'open' | 'sealed' | 'ended' = 'open';

  constructor(options: S3BlobWriterOptions) {
    this.#options = options;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    let waiting: Promise<void> | undefined;
    for (let start = 0; start < chunk.length;) {
      const end = Math.min(chunk.length, start + this.#options.partBytes - this.#gatheredBytes);
      this.#gathered.push(chunk.subarray(start, end));
      this.#gatheredBytes += end - start;
      start = end;
      // Some engines, such as R2, require parts of equal length; only the last may be shorter.
      if (this.#gatheredBytes === this.#options.partBytes) waiting = this.#flush();
    }
    return waiting;
  }

  /** Does nothing before `seal`: a single part would already be visible under its final name. */
  end(): void {}

  async seal(crc64nvme?: Promise<Buffer | undefined>): Promise<BlobId> {
    if (this.#state !== 'open') throw new Error('the blob was sealed or given up before');
    const { id, key, upstream, release } = this.#options;
    try {
      await this.#tail;
      if (this.#uploadId === null) {
        await upstream.put(key, this.#gathered, await crc64nvme);
      } else {
        if (this.#gatheredBytes > 0) await this.#send(this.#takeGathered());
        await upstream.completeUpload(key, this.#uploadId, this.#parts);
      }
    } catch (error) {
      throw toStoreError(error);
    }
    this.#state = 'sealed';
    this.#gathered = [];
    release();
    return id;
  }

  /** If the engine is away, the sweep cleans up later. */
  async abort(): Promise<void> {
    if (this.#state === 'ended') return;
    const sealed = this.#state === 'sealed';
    this.#state = 'ended';
    this.#gathered = [];
    const { key, upstream, release } = this.#options;
    await this.#tail.catch(() => undefined); // `write` reported the error
    release();
    try {
      if (this.#uploadId !== null && !sealed) await upstream.abortUpload(key, this.#uploadId);
      // A seal whose response was lost may still have created the object.
      await upstream.remove(key);
    } catch {
      // See above; the failure that led here is the one that counts.
    }
  }

  /** Starts the next part. Resolves when the previous one is done and more may be gathered. */
  #flush(): Promise<void> {
    const part = this.#takeGathered();
    const previous = this.#tail;
    this.#tail = previous.then(() => this.#send(part));
    this.#tail.catch(() => undefined); // the next write or the seal reports the error; after an abort it is ignored
    return previous;
  }

  #takeGathered(): Buffer {
    const part = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return part;
  }

  async #send(part: Buffer): Promise<void> {
    const { key, upstream } = this.#options;
    try {
      this.#uploadId ??= await upstream.createUpload(key);
      this.#parts.push(await upstream.putPart(key, this.#uploadId, this.#parts.length + 1, part));
    } catch (error) {
      throw toStoreError(error);
    }
  }
}
