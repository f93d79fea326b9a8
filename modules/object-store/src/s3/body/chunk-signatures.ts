import { createHash, hash, type Hash } from 'node:crypto';
import { chunkStringToSign, sameSignature, trailerStringToSign, type SignatureSeed } from '@svc/s3-sign';
import { storeErrors } from '../../errors.ts';
import type { FrameVerifier } from './chunked-decoder.ts';

export const TRAILER_SIGNATURE = 'x-amz-trailer-signature';

/**
 * Verifies chunk signatures. Each covers the chunk's hash and the previous signature; the first chains from the
 * request's signature.
 */
export class ChunkSignatures implements FrameVerifier {
  readonly #seed: SignatureSeed;
  readonly #expectTrailer: boolean;
  #previous: string;
  #hash: Hash = createHash('sha256');

  constructor(seed: SignatureSeed, expectTrailer: boolean) {
    this.#seed = seed;
    this.#expectTrailer = expectTrailer;
    this.#previous = seed.signature;
  }

  data(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  endChunk(signature: string): void {
    const body = this.#hash.digest('hex');
    this.#hash = createHash('sha256');
    this.#check(signature, chunkStringToSign(this.#seed, this.#previous, body));
  }

  endTrailer(trailer: ReadonlyMap<string, string>): void {
    if (!this.#expectTrailer) return;
    const signature = trailer.get(TRAILER_SIGNATURE);
    // An empty trailer was announced but not sent; `assertTrailer` reports that.
    if (trailer.size === 0) return;
    if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) throw storeErrors.IncompleteBody();
    const lines = [...trailer]
      .filter(([name]) => name !== TRAILER_SIGNATURE)
      .map(([name, value]) => `${name}:${value}\n`);
    const body = hash('sha256', lines.join(''));
    this.#check(signature, trailerStringToSign(this.#seed, this.#previous, body));
  }

  #check(signature: string, stringToSign: string): void {
    const expected = this.#seed.signingKey.sign(stringToSign);
    if (!sameSignature(signature, expected)) throw storeErrors.SignatureDoesNotMatch();
    this.#previous = expected;
  }
}
