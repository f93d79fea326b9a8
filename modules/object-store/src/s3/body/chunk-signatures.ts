import { createHash, hash, type Hash } from 'node:crypto';
import { storeErrors } from '../../errors.ts';
import { sameSignature, type SignatureSeed } from '../auth/verify.ts';
import type { FrameVerifier } from './chunked-decoder.ts';

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
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
    this.#check(signature, `AWS4-HMAC-SHA256-PAYLOAD`, `${EMPTY_SHA256}\n${body}`);
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
    this.#check(signature, 'AWS4-HMAC-SHA256-TRAILER', body);
  }

  #check(signature: string, algorithm: string, body: string): void {
    const { signingKey, amzDate, scope } = this.#seed;
    const expected = signingKey.sign(`${algorithm}\n${amzDate}\n${scope}\n${this.#previous}\n${body}`);
    if (!sameSignature(signature, expected)) throw storeErrors.SignatureDoesNotMatch();
    this.#previous = expected;
  }
}
