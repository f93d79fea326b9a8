import { createXXHash128, createXXHash3, createXXHash64 } from 'hash-wasm';

export const XX_HASHES = ['XXHASH64', 'XXHASH3', 'XXHASH128'] as const;
export type XxHash = (typeof XX_HASHES)[number];

type Instance = Awaited<ReturnType<typeof createXXHash64>>;

/**
 * XXH64, XXH3 and XXH3-128 with seed 0. One instance of each serves all streams of a thread: a stream's state is loaded
 * before each update and saved after it. The state is opaque.
 */
export class XxHashes {
  readonly #instances: Readonly<Record<XxHash, Instance>>;

  private constructor(instances: Readonly<Record<XxHash, Instance>>) {
    this.#instances = instances;
  }

  /** Compiles the WebAssembly without blocking the thread. */
  static async load(): Promise<XxHashes> {
    const [XXHASH64, XXHASH3, XXHASH128] = await Promise.all([createXXHash64(), createXXHash3(), createXXHash128()]);
    return new XxHashes({ XXHASH64, XXHASH3, XXHASH128 });
  }

  begin(name: XxHash): Uint8Array {
    return this.#instances[name].init().save();
  }

  update(name: XxHash, state: Uint8Array, chunk: Uint8Array): Uint8Array {
    return this.#instances[name].load(state).update(chunk).save();
  }

  /** Big-endian, the canonical form. */
  finish(name: XxHash, state: Uint8Array): Buffer {
    return Buffer.from(this.#instances[name].load(state).digest('binary'));
  }
}
