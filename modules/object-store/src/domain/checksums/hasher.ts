import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DigestName, DigestResults } from './algorithms.ts';
import { CrcKernel, finishRegister, initialRegister, type KernelCrc } from './crc-kernel.ts';
import type { XxHash, XxHashes } from './xx-hashes.ts';

/** Hashes a body chunk by chunk, synchronously on one thread. */
export interface Hasher {
  update(chunk: Uint8Array): void;
  digest(): Buffer;
}

/** The hashes that Node has no native functions for. Use one instance per thread. */
export class HashKernels {
  readonly crc = new CrcKernel();
  #xx: XxHashes | null = null;

  /**
   * Must be called before creating hashers with these names. Few clients use XXH, so its 5 MB are loaded on first use.
   */
  async prepare(names: Iterable<DigestName>): Promise<void> {
    if (this.#xx !== null || ![...names].some((name) => name.startsWith('XXHASH'))) return;
    const { XxHashes: hashes } = await import('./xx-hashes.ts');
    this.#xx = await hashes.load();
  }

  get xx(): XxHashes {
    if (this.#xx === null) throw new Error('XXH was not prepared');
    return this.#xx;
  }
}

export function createHasher(kernels: HashKernels, name: DigestName): Hasher {
  switch (name) {
    case 'MD5':
    case 'SHA1':
    case 'SHA256':
    case 'SHA512':
      return nativeHasher(name);
    case 'CRC32':
      return crc32Hasher();
    case 'CRC32C':
    case 'CRC64NVME':
      return kernelHasher(kernels.crc, name);
    case 'XXHASH64':
    case 'XXHASH3':
    case 'XXHASH128':
      return xxHasher(kernels.xx, name);
  }
}

/** Computes several digests of the same bytes. */
export class MultiHasher {
  readonly #hashers: readonly (readonly [DigestName, Hasher])[];

  constructor(kernels: HashKernels, names: Iterable<DigestName>) {
    this.#hashers = [...names].map((name) => [name, createHasher(kernels, name)] as const);
  }

  update(chunk: Uint8Array): void {
    for (const [, hasher] of this.#hashers) hasher.update(chunk);
  }

  digest(): DigestResults {
    const results: DigestResults = {};
    for (const [name, hasher] of this.#hashers) results[name] = hasher.digest();
    return results;
  }
}

function nativeHasher(name: 'MD5' | 'SHA1' | 'SHA256' | 'SHA512'): Hasher {
  const hash = createHash(name.toLowerCase());
  return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest() };
}

function xxHasher(hashes: XxHashes, name: XxHash): Hasher {
  let state = hashes.begin(name);
  return {
    update: (chunk) => {
      state = hashes.update(name, state, chunk);
    },
    digest: () => hashes.finish(name, state),
  };
}

function crc32Hasher(): Hasher {
  let value = 0;
  return {
    update: (chunk) => {
      value = crc32(chunk, value);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}

function kernelHasher(kernel: CrcKernel, crc: KernelCrc): Hasher {
  let register = initialRegister(crc);
  return {
    update: (chunk) => {
      register = kernel.update(crc, register, chunk);
    },
    digest: () => finishRegister(crc, register),
  };
}
