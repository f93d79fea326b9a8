import type { BlobId, BlobWriter } from '../../../domain/ports/blob-store.ts';
import { toStoreError } from './failures.ts';
import type { UploadedPart, Upstream } from './upstream.ts';

export interface S3BlobWriterOptions {
  id: BlobId;
  key: string;
  upstream: Upstream;
  partBytes: number;
  /** Gives the memory back that was taken for the parts. */
  release(): void;
}

/**
 * Gathers parts and sends one while the next is gathered; what fits into one part goes in one request. A part is sent
 * again as a whole when the engine failed, which is why it is held until it was taken.
 */
export class S3BlobWriter implements BlobWriter {
  readonly #options: S3BlobWriterOptions;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #uploadId: string | null = null;
  readonly #parts: UploadedPart[] = [];
  /** The last part that was sent off, after all before it. */
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
      // Engines such as R2 want parts of one length; only the last may be shorter.
      if (this.#gatheredBytes === this.#options.partBytes) waiting = this.#flush();
    }
    return waiting;
  }

  /** Waits for `seal`: a single part would be visible under its final name. */
  end(): void {}

  async seal(): Promise<BlobId> {
    if (this.#state !== 'open') throw new Error('the blob was sealed or given up before');
    const { id, key, upstream, release } = this.#options;
    try {
      await this.#tail;
      if (this.#uploadId === null) {
        await upstream.put(key, Buffer.concat(this.#gathered));
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

  /** What cannot be taken back now, because the engine is away, the sweep takes back later. */
  async abort(): Promise<void> {
    if (this.#state === 'ended') return;
    const sealed = this.#state === 'sealed';
    this.#state = 'ended';
    this.#gathered = [];
    const { key, upstream, release } = this.#options;
    await this.#tail.catch(() => undefined); // whoever called write was told
    release();
    try {
      if (this.#uploadId !== null && !sealed) await upstream.abortUpload(key, this.#uploadId);
      // A seal whose answer was lost may have made the object all the same.
      await upstream.remove(key);
    } catch {
      // See above; the failure that led here is the one that counts.
    }
  }

  /** Starts the next part; resolves when the one before is through, which is when more may be gathered. */
  #flush(): Promise<void> {
    const part = this.#takeGathered();
    const previous = this.#tail;
    this.#tail = previous.then(() => this.#send(part));
    this.#tail.catch(() => undefined); // the next write, the seal or nobody hears of it
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
