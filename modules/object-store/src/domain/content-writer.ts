import type { DiskSpace } from '@svc/runtime';
import type { DigestName, DigestResults } from './checksums/algorithms.ts';
import { createBodyHasher, type BodyHasher, type HashingParts } from './checksums/body-hasher.ts';
import type { ContentKey } from './encryption/content-key.ts';
import { ContentSealer } from './encryption/content-sealer.ts';
import { sealedBytes } from './encryption/sealed-layout.ts';
import { storeErrors } from '../errors.ts';
import type { BlobPlace, BlobStore, BlobWriter } from './ports/blob-store.ts';
import type { NewContent } from './ports/metadata-store.ts';

export interface ContentParts {
  blobs: BlobStore;
  hashing: HashingParts;
  inlineMaxBytes: number;
  random: (size: number) => Buffer;
  disk: DiskSpace;
  /** Waits for the workspace's turn on the event loop. */
  turnOfBody: (workspaceUuid: string) => Promise<void> | undefined;
}

export interface WrittenContent {
  /** On stable storage, or small enough to be committed with its row. */
  content: NewContent;
  digests: DigestResults;
}

export interface ContentOptions {
  /** False for what must be a blob however small, such as the parts of an upload. */
  inline: boolean;
  /** Null: the bytes are stored as they come. */
  key: ContentKey | null;
  /** Which bucket it is written for. */
  place?: BlobPlace;
}

interface Sealing {
  sealer: ContentSealer;
  storedBytes: number;
  /** Of a blob: for the scrub, which knows no keys. */
  hasher: BodyHasher | null;
}

const WRONG_LENGTH = 'You did not provide the number of bytes specified by the Content-Length HTTP header';
const STORED_DIGESTS: ReadonlySet<DigestName> = new Set(['CRC64NVME']);

/** What the bytes of an upload run through: counted against the announced length, hashed, sealed, put where they belong. */
export class ContentWriter {
  readonly #hasher: BodyHasher;
  readonly #blob: BlobWriter | null;
  readonly #sealing: Sealing | null;
  readonly #sizeBytes: number;
  readonly #turn: () => Promise<void> | undefined;
  readonly #gathered: Uint8Array[] = [];
  #received = 0;
  #settled = false;
  /** Of the stored bytes, for the scrub. */
  #crc64nvme: string | undefined;

  private constructor(
    { hasher, blob, sealing }: { hasher: BodyHasher; blob: BlobWriter | null; sealing: Sealing | null },
    sizeBytes: number,
    turn: () => Promise<void> | undefined,
  ) {
    this.#turn = turn;
    this.#hasher = hasher;
    this.#blob = blob;
    this.#sealing = sealing;
    this.#sizeBytes = sizeBytes;
  }

  static async open(
    parts: ContentParts,
    names: ReadonlySet<DigestName>,
    sizeBytes: number,
    { inline: mayInline, key, place }: ContentOptions,
  ): Promise<ContentWriter> {
    const workspace = place?.workspaceUuid ?? '';
    const isInline = mayInline && sizeBytes <= parts.inlineMaxBytes;
    await assertRoom(parts.disk, isInline ? sizeBytes : 0); // an engine on this disk asks for the bytes of blobs
    await parts.hashing.kernels.prepare(names);
    const blob = isInline ? null : await parts.blobs.create(key === null ? sizeBytes : sealedBytes(sizeBytes), place);
    const sealing =
      key === null
        ? null
        : {
            sealer: new ContentSealer(key, sizeBytes, parts.random),
            storedBytes: sealedBytes(sizeBytes),
            hasher:
              blob === null ? null : createBodyHasher(parts.hashing, STORED_DIGESTS, sealedBytes(sizeBytes), workspace),
          };
    const wanted = new Set(names);
    if (blob !== null && key === null) wanted.add('CRC64NVME');
    const hasher = createBodyHasher(parts.hashing, wanted, sizeBytes, workspace);
    return new ContentWriter({ hasher, blob, sealing }, sizeBytes, () => parts.turnOfBody(workspace));
  }

  /**
   * A promise is the backpressure. `release` is called when nobody needs the chunk any more, which may be never. Throws
   * `IncompleteBody` for more bytes than were announced.
   */
  write(chunk: Uint8Array, release?: () => void): Promise<unknown> | undefined {
    this.#received += chunk.length;
    if (this.#received > this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: WRONG_LENGTH } });
    }
    const done = release === undefined ? undefined : afterBoth(release);
    const hashed = this.#hasher.update(chunk, done);
    const written =
      this.#sealing === null ? this.#store([chunk], done) : this.#store(this.#sealing.sealer.update(chunk));
    if (hashed === undefined && written === undefined) return undefined;
    // The reader pauses here in any case: it goes on in the turn of its workspace.
    return Promise.all([hashed, written]).then(() => this.#turn());
  }

  /** The digests of all bytes, before anything is sealed, so that what does not match is never stored. */
  async digest(): Promise<DigestResults> {
    if (this.#received !== this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: WRONG_LENGTH } });
    }
    const results = await this.#hasher.finish();
    if (this.#sealing === null) this.#crc64nvme = crcOf(results);
    return results;
  }

  async seal(): Promise<NewContent> {
    if (this.#sealing !== null) await this.#store(this.#sealing.sealer.final());
    if (this.#sealing?.hasher) this.#crc64nvme = crcOf(await this.#sealing.hasher.finish());
    if (this.#blob !== null) {
      const blobId = await this.#blob.seal();
      this.#settled = true;
      return {
        kind: 'blob',
        blobId,
        ...(this.#crc64nvme === undefined ? {} : { crc64nvme: this.#crc64nvme }),
        ...(this.#sealing === null ? {} : { storedBytes: this.#sealing.storedBytes }),
      };
    }
    this.#settled = true;
    if (this.#sizeBytes === 0) return { kind: 'empty' };
    const [only] = this.#gathered;
    const data = this.#gathered.length === 1 && only !== undefined ? only : Buffer.concat(this.#gathered);
    return { kind: 'inline', data };
  }

  #store(pieces: readonly Uint8Array[], done?: () => void): Promise<unknown> | undefined {
    if (this.#blob === null) {
      this.#gathered.push(...pieces);
      return undefined;
    }
    const waits: Promise<void>[] = [];
    for (const piece of pieces) {
      for (const wait of [this.#sealing?.hasher?.update(piece), this.#blob.write(piece, done)]) {
        if (wait !== undefined) waits.push(wait);
      }
    }
    return waits.length < 2 ? waits[0] : Promise.all(waits);
  }

  /** Leaves nothing behind; does nothing after `seal`. */
  async abort(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    this.#hasher.cancel();
    this.#sealing?.hasher?.cancel();
    await this.#blob?.abort();
  }
}

/** Rows take space too: also what has no bytes of its own is refused when only the reserve is left. */
export async function assertRoom(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.take(sizeBytes))) throw storeErrors.InsufficientStorage();
}

/** Lets go of content whose commit was refused. After an unclear failure it must stay: the row may be there after all. */
export async function discardContent(blobs: BlobStore, content: NewContent): Promise<void> {
  if (content.kind === 'blob') await blobs.remove(content.blobId);
}

/** Calls back at its second call: a chunk is needed by the hasher and by the blob. */
function afterBoth(release: () => void): () => void {
  let called = false;
  return () => {
    if (called) release();
    called = true;
  };
}

function crcOf(results: DigestResults): string | undefined {
  return results.CRC64NVME?.toString('hex');
}
