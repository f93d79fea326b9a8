import { isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import type { BlobStore } from '../ports/blob-store.ts';
import type { NewContent } from '../ports/objects.ts';
import type { ObjectChecksum } from '../ports/records.ts';

export interface PendingContentDeps {
  blobs: BlobStore;
  log: Logger;
}

/**
 * Verified content on stable storage that no row refers to yet. Its owner holds it by `await using` until it is
 * committed, once; otherwise the bytes are removed. The sweep removes what a crash leaves behind.
 */
export class PendingContent {
  readonly sizeBytes: number;
  /** Hexadecimal: the MD5 of the content, or a substitute if encryption must hide it. */
  readonly etag: string;
  readonly checksum: ObjectChecksum;
  readonly #deps: PendingContentDeps;
  #content: NewContent | null;

  constructor(
    deps: PendingContentDeps,
    content: NewContent,
    facts: Pick<PendingContent, 'sizeBytes' | 'etag' | 'checksum'>,
  ) {
    this.#deps = deps;
    this.#content = content;
    this.sizeBytes = facts.sizeBytes;
    this.etag = facts.etag;
    this.checksum = facts.checksum;
  }

  /**
   * Writes the row. If the write is refused, nothing refers to the bytes, and they are removed. After any other failure
   * the row may have been committed anyway, so they must stay.
   */
  async commit<Result>(write: (content: NewContent) => Promise<Result>): Promise<Result> {
    const content = this.#take();
    if (content === null) throw new Error('content is committed or discarded only once');
    try {
      return await write(content);
    } catch (error) {
      if (isAppError(error) && error.status < 500) await this.#remove(content);
      throw error;
    }
  }

  /** Removes the bytes. Does nothing after `commit`. */
  async discard(): Promise<void> {
    const content = this.#take();
    if (content !== null) await this.#remove(content);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  #take(): NewContent | null {
    const content = this.#content;
    this.#content = null;
    return content;
  }

  async #remove(content: NewContent): Promise<void> {
    if (content.kind !== 'blob') return;
    try {
      await this.#deps.blobs.remove(content.blobId);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the blob of a refused write could not be removed; the next sweep retries');
    }
  }
}
