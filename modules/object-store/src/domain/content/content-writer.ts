import { freeAfter } from '@svc/bytes';
import type { DiskSpace } from '@svc/runtime';
import type { DigestName, DigestResults } from '../checksums/algorithms.ts';
import { createBodyHasher, type BodyHasher, type HashingDeps } from '../checksums/body-hasher.ts';
import type { ContentKey } from '../encryption/content-key.ts';
import { ContentSealer } from '../encryption/content-sealer.ts';
import { sealedBytes } from '../encryption/sealed-layout.ts';
import { storeErrors } from '../../errors.ts';
import type { BlobPlace, BlobStore, BlobWriter } from '../ports/blob-store.ts';
import type { NewContent } from '../ports/objects.ts';

export interface ContentWriterDeps {
  blobs: BlobStore;
  hashing: HashingDeps;
  inlineMaxBytes: number;
  random: (size: number) => Buffer;
  disk: DiskSpace;
  /** Waits for the workspace's turn on the event loop. */
  turnOfBody: (workspaceUuid: string) => Promise<void> | undefined;
}

export interface ContentWriterOptions {
  /** False for content that must be a blob regardless of size, such as upload parts. */
  inline: boolean;
  /** Null to store the bytes unencrypted. */
  key: ContentKey | null;
  /** The bucket that the content is written for. */
  place: BlobPlace;
}

interface Sealing {
  sealer: ContentSealer;
  storedBytes: number;
  /** Hash of the stored blob, for the scrub, which has no keys. */
  hasher: BodyHasher | null;
}

const WRONG_LENGTH = 'You did not provide the number of bytes specified by the Content-Length HTTP header';
const STORED_DIGESTS: ReadonlySet<DigestName> = new Set(['CRC64NVME']);

/** Processes the bytes of an upload: checks them against the declared length, hashes, encrypts and stores them. */
export class ContentWriter {
  readonly #hasher: BodyHasher;
  readonly #blob: BlobWriter | null;
  readonly #sealing: Sealing | null;
  readonly #sizeBytes: number;
  readonly #turn: () => Promise<void> | undefined;
  readonly #gathered: Uint8Array[] = [];
  #received = 0;
  #settled = false;
  /** The write of the last sealed bytes. */
  #sealed: Promise<unknown> | undefined;
  /** Checksum of the stored bytes, for the scrub. */
  #crc64nvme: Buffer | undefined;

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
    deps: ContentWriterDeps,
    names: ReadonlySet<DigestName>,
    sizeBytes: number,
    { inline: mayInline, key, place }: ContentWriterOptions,
  ): Promise<ContentWriter> {
    const workspace = place.workspaceUuid;
    const isInline = mayInline && sizeBytes <= deps.inlineMaxBytes;
    await assertRoom(deps.disk, isInline ? sizeBytes : 0); // the local engine reserves space for blobs itself
    await deps.hashing.kernels.prepare(names);
    const blob = isInline ? null : await deps.blobs.create(key === null ? sizeBytes : sealedBytes(sizeBytes), place);
    const sealing =
      key === null
        ? null
        : {
            sealer: new ContentSealer(key, sizeBytes, deps.random),
            storedBytes: sealedBytes(sizeBytes),
            hasher:
              blob === null ? null : createBodyHasher(deps.hashing, STORED_DIGESTS, sealedBytes(sizeBytes), workspace),
          };
    const wanted = new Set(names);
    if (blob !== null && key === null) wanted.add('CRC64NVME');
    const hasher = createBodyHasher(deps.hashing, wanted, sizeBytes, workspace);
    return new ContentWriter({ hasher, blob, sealing }, sizeBytes, () => deps.turnOfBody(workspace));
  }

  /**
   * A returned promise applies backpressure. `release` is called when the chunk is no longer needed, which may be
   * never. Throws `IncompleteBody` for more bytes than declared.
   */
  write(chunk: Uint8Array, release?: () => void): Promise<unknown> | undefined {
    this.#received += chunk.length;
    if (this.#received > this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: WRONG_LENGTH } });
    }
    // Sealing copies the chunk, so afterwards only the hasher needs it.
    const done = release === undefined || this.#sealing !== null ? release : afterBoth(release);
    const written =
      this.#sealing === null
        ? this.#store(chunk, done)
        : this.#storeSealed(this.#sealing, this.#sealing.sealer.update(chunk));
    const hashed = this.#hasher.update(chunk, done);
    if (hashed === undefined && written === undefined) return undefined;
    // The reader pauses here anyway, so it resumes in its workspace's turn.
    return Promise.all([hashed, written]).then(() => this.#turn());
  }

  /** Digests of all bytes, before sealing, so that content that does not match is never stored. */
  async digest(): Promise<DigestResults> {
    if (this.#received !== this.#sizeBytes) {
      throw storeErrors.IncompleteBody({ details: { reason: WRONG_LENGTH } });
    }
    if (this.#sealing !== null) this.#sealed = this.#storeSealed(this.#sealing, this.#sealing.sealer.final());
    this.#sealed?.catch(() => undefined); // `seal` reports the error
    this.#blob?.end();
    const results = await this.#hasher.finish();
    this.#crc64nvme = results.CRC64NVME;
    return results;
  }

  /** Call after `digest`. */
  async seal(): Promise<NewContent> {
    await this.#sealed;
    if (this.#blob !== null) {
      const crc = this.#storedCrc();
      crc.catch(() => undefined); // awaited below
      const blobId = await this.#blob.seal(crc);
      const crc64nvme = (await crc)?.toString('hex');
      this.#settled = true;
      return {
        kind: 'blob',
        blobId,
        ...(crc64nvme === undefined ? {} : { crc64nvme }),
        ...(this.#sealing === null ? {} : { storedBytes: this.#sealing.storedBytes }),
      };
    }
    this.#settled = true;
    if (this.#sizeBytes === 0) return { kind: 'empty' };
    const [only] = this.#gathered;
    const data = this.#gathered.length === 1 && only !== undefined ? only : Buffer.concat(this.#gathered);
    return { kind: 'inline', data };
  }

  /** The checksum of the bytes as they are stored. */
  async #storedCrc(): Promise<Buffer | undefined> {
    return this.#sealing === null ? this.#crc64nvme : (await this.#sealing.hasher?.finish())?.CRC64NVME;
  }

  #store(piece: Uint8Array, done?: () => void): Promise<void> | undefined {
    if (this.#blob === null) this.#gathered.push(piece);
    return this.#blob?.write(piece, done);
  }

  #storeSealed({ hasher }: Sealing, pieces: readonly Uint8Array[]): Promise<unknown> | undefined {
    const waits: Promise<void>[] = [];
    for (const piece of pieces) {
      const release = freeAfter(piece, hasher === null ? 1 : 2);
      for (const wait of [hasher?.update(piece, release), this.#store(piece, release)]) {
        if (wait !== undefined) waits.push(wait);
      }
    }
    return waits.length < 2 ? waits[0] : Promise.all(waits);
  }

  /** Removes everything written so far. Does nothing after `seal`. */
  async abort(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    this.#hasher.cancel();
    this.#sealing?.hasher?.cancel();
    await this.#blob?.abort();
  }
}

/**
 * Throws `InsufficientStorage` if only the reserve is left. Rows take space too, so this applies even to writes without
 * bytes of their own.
 */
export async function assertRoom(disk: DiskSpace, sizeBytes: number): Promise<void> {
  if (!(await disk.take(sizeBytes))) throw storeErrors.InsufficientStorage();
}

/** Calls `release` on the second call: the hasher and the blob both need the chunk. */
function afterBoth(release: () => void): () => void {
  let called = false;
  return () => {
    if (called) release();
    called = true;
  };
}
