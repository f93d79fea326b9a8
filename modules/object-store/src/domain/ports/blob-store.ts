/** Random, opaque, made by the store; safe in a path and in an upstream key. */
export type BlobId = string;

/** Where a blob is first used; an engine may show it in its own names. Copies share blobs wherever they are. */
export interface BlobPlace {
  workspaceUuid: string;
  bucketId: number;
}

export interface BlobWriter {
  /**
   * Takes the chunks over; they must not change afterwards. Resolves when the writer wants more, so that awaiting it is
   * the backpressure. `release` is called when the writer needs the chunk no more; one that fails may never call it.
   */
  write(chunk: Uint8Array, release?: () => void): Promise<void> | void;
  /** Everything is on stable storage under its final name when this resolves. The id is unknown before. */
  seal(): Promise<BlobId>;
  /** Leaves nothing behind. Safe at any time, also twice, also after a failed `write` or `seal`. */
  abort(): Promise<void>;
}

export interface BlobEntry {
  id: BlobId;
  sizeBytes: number;
  modifiedAtMs: number;
}

export interface ReadRange {
  start: number;
  /** First byte that is not wanted. */
  endExclusive: number;
}

/**
 * Where the bytes of objects live. Blobs are immutable: written once, sealed, read, removed. Nothing here knows keys,
 * buckets or tenants; which blob belongs to what is the metadata's to say, and only a committed row makes a blob count.
 */
export interface BlobStore {
  /** `expectedBytes` is a hint (for space checks), not a promise. */
  create(expectedBytes?: number, place?: BlobPlace): Promise<BlobWriter>;
  /** Under the id that it had elsewhere: for a restore, or a move from another engine. Takes the place of what is there. */
  createAs(id: BlobId, expectedBytes?: number): Promise<BlobWriter>;
  /**
   * Streams a range. A yielded chunk is valid only until the next one is asked for: its buffer is used again.
   * Throws `DataLost` when the blob is missing or shorter than the range. Ending the iteration early releases all.
   */
  read(id: BlobId, range: ReadRange): AsyncIterable<Uint8Array>;
  /** Null when there is no such blob. */
  size(id: BlobId): Promise<number | null>;
  /** Idempotent: a blob that is not there is removed. */
  remove(id: BlobId): Promise<void>;
  /** Sets a damaged blob aside: no read finds it, its bytes stay for whoever wants to look. Idempotent. */
  quarantine(id: BlobId): Promise<void>;
  /** Every sealed blob, in no order. Bounded memory. */
  list(): AsyncIterable<BlobEntry>;
  /** Removes what crashed writers left unsealed and is older than `olderThanMs` ago; answers how many. */
  sweepUnsealed(olderThanMs: number): Promise<number>;
  /** Throws what is wrong when the engine cannot take a write now. */
  check(): Promise<void>;
  close(): Promise<void>;
}
