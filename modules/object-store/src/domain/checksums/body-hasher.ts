import type { DigestName, DigestResults } from './algorithms.ts';
import type { DigestThread } from './digest-thread.ts';
import { MultiHasher, type HashKernels } from './hasher.ts';

/**
 * Hashes a body of any length. A promise from `update` applies backpressure; `release` is called when the chunk is no
 * longer needed.
 */
export interface BodyHasher {
  update(chunk: Uint8Array, release?: () => void): Promise<void> | undefined;
  finish(): Promise<DigestResults>;
  /** Ends the hasher without a result. Safe after `finish`. */
  cancel(): void;
}

/** Up to this size, hashing inline is cheaper than a handover, and too short to delay other requests. */
const SMALL_BODY_BYTES = 256 * 1024;
/** The same for digests that are as cheap as the copy for a handover. */
const SMALL_FOR_CHEAP_BYTES = 1024 * 1024;
const CHEAP_DIGESTS: ReadonlySet<DigestName> = new Set(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA256']);

export interface HashingDeps {
  kernels: HashKernels;
  thread: DigestThread;
}

/**
 * `key` groups bodies that take turns on the digest thread. For large bodies, SHA-256 stays on this thread, since the
 * processor has instructions for it; all other digests go to the digest thread.
 */
export function createBodyHasher(
  { kernels, thread }: HashingDeps,
  names: ReadonlySet<DigestName>,
  sizeBytes: number,
  key: string,
): BodyHasher {
  const isCheap = [...names].every((name) => CHEAP_DIGESTS.has(name));
  if (sizeBytes <= (isCheap ? SMALL_FOR_CHEAP_BYTES : SMALL_BODY_BYTES)) {
    return immediateHasher(new MultiHasher(kernels, names));
  }
  const here = [...names].filter((name) => name === 'SHA256');
  const there = [...names].filter((name) => name !== 'SHA256');
  const local = new MultiHasher(kernels, here);
  return there.length === 0 ? immediateHasher(local) : new ThreadedHasher(local, thread, there, key);
}

function immediateHasher(hasher: MultiHasher): BodyHasher {
  return {
    update: (chunk, release) => {
      hasher.update(chunk);
      release?.();
      return undefined;
    },
    finish: () => Promise.resolve(hasher.digest()),
    cancel: () => undefined,
  };
}

class ThreadedHasher implements BodyHasher {
  readonly #local: MultiHasher;
  readonly #thread: DigestThread;
  readonly #stream: number;
  readonly #key: string;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Called when the gathered chunks have been copied. */
  #releases: (() => void)[] = [];
  #tail: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(local: MultiHasher, thread: DigestThread, names: readonly DigestName[], key: string) {
    this.#key = key;
    this.#local = local;
    this.#thread = thread;
    this.#stream = thread.begin(names);
  }

  update(chunk: Uint8Array, release?: () => void): Promise<void> | undefined {
    this.#local.update(chunk);
    let waiting: Promise<void> | undefined;
    for (let start = 0; start < chunk.length;) {
      const end = Math.min(chunk.length, start + this.#thread.slotBytes - this.#gatheredBytes);
      this.#gathered.push(chunk.subarray(start, end));
      this.#gatheredBytes += end - start;
      start = end;
      if (start === chunk.length && release !== undefined) this.#releases.push(release);
      if (this.#gatheredBytes === this.#thread.slotBytes) waiting = this.#flush();
    }
    return waiting;
  }

  async finish(): Promise<DigestResults> {
    if (this.#gatheredBytes > 0) void this.#flush();
    await this.#tail;
    this.#ended = true;
    return { ...this.#local.digest(), ...(await this.#thread.finish(this.#stream)) };
  }

  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#gathered = [];
    // Cancel after pending updates, so that the thread never receives one for an unknown stream.
    const cancel = () => this.#thread.cancel(this.#stream);
    this.#tail.then(cancel, cancel);
  }

  #flush(): Promise<void> {
    const chunks = this.#gathered;
    const releases = this.#releases;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#releases = [];
    this.#tail = this.#tail.then(async () => {
      await this.#thread.update(this.#stream, chunks, this.#key);
      for (const release of releases) release();
    });
    this.#tail.catch(() => undefined); // `finish` or the next `update` reports the error
    return this.#tail;
  }
}
