import type { DigestName, DigestResults } from '../checksums/algorithms.ts';
import { createBodyHasher, type BodyHasher, type HashingParts } from '../checksums/body-hasher.ts';
import { storeErrors } from '../errors.ts';
import type { BlobStore, BlobWriter } from '../ports/blob-store.ts';
import type { NewContent } from '../ports/metadata-store.ts';

export interface ContentParts {
  blobs: BlobStore;
  hashing: HashingParts;
  inlineMaxBytes: number;
}

export interface WrittenContent {
  /** On stable storage, or small enough to be committed with its row. */
  content: NewContent;
  digests: DigestResults;
}

/** What the bytes of an upload run through: counted against the announced length, hashed, and put where they belong. */
export class ContentWriter {
  readonly #hasher: BodyHasher;
  readonly #blob: BlobWriter | null;
  readonly #sizeBytes: number;
  readonly #gathered: Uint8Array[] = [];
  #received = 0;
  #settled = false;
  /** Of the stored bytes, for the scrub. */
  #crc64nvme: string | undefined;

  private constructor(hasher: BodyHasher, blob: BlobWriter | null, sizeBytes: number) {
    this.#hasher = hasher;
    this.#blob = blob;
    this.#sizeBytes = sizeBytes;
  }

  /** `inline: false` for what must be a blob however small, such as the parts of an upload. */
  static async open(
    parts: ContentParts,
    names: ReadonlySet<DigestName>,
    sizeBytes: number,
    options: { inline: boolean } = { inline: true },
  ): Promise<ContentWriter> {
    const inline = options.inline && sizeBytes <= parts.inlineMaxBytes;
    const blob = inline ? null : await parts.blobs.create(sizeBytes);
    const wanted = new Set(names);
    if (blob !== null) wanted.add('CRC64NVME');
    return new ContentWriter(createBodyHasher(parts.hashing, wanted, sizeBytes), blob, sizeBytes);
  }

  /** A promise is the backpressure. Throws `IncompleteBody` for more bytes than were announced. */
  write(chunk: Uint8Array): Promise<unknown> | undefined {
    this.#received += chunk.length;
    if (this.#received > this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: 'more bytes than announced' } });
    }
    const hashed = this.#hasher.update(chunk);
    if (this.#blob === null) {
      this.#gathered.push(chunk);
      return hashed;
    }
    const written = this.#blob.write(chunk);
    if (hashed === undefined) return written ?? undefined;
    return written === undefined ? hashed : Promise.all([hashed, written]);
  }

  /** The digests of all bytes, before anything is sealed, so that what does not match is never stored. */
  async digest(): Promise<DigestResults> {
    if (this.#received !== this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: 'fewer bytes than announced' } });
    }
    const results = await this.#hasher.finish();
    this.#crc64nvme = results.CRC64NVME?.toString('hex');
    return results;
  }

  async seal(): Promise<NewContent> {
    if (this.#blob !== null) {
      const blobId = await this.#blob.seal();
      this.#settled = true;
      return { kind: 'blob', blobId, ...(this.#crc64nvme === undefined ? {} : { crc64nvme: this.#crc64nvme }) };
    }
    this.#settled = true;
    if (this.#sizeBytes === 0) return { kind: 'empty' };
    const [only] = this.#gathered;
    const data = this.#gathered.length === 1 && only !== undefined ? only : Buffer.concat(this.#gathered);
    return { kind: 'inline', data };
  }

  /** Leaves nothing behind; does nothing after `seal`. */
  async abort(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    this.#hasher.cancel();
    await this.#blob?.abort();
  }
}

/** Lets go of content whose commit was refused. After an unclear failure it must stay: the row may be there after all. */
export async function discardContent(blobs: BlobStore, content: NewContent): Promise<void> {
  if (content.kind === 'blob') await blobs.remove(content.blobId);
}
