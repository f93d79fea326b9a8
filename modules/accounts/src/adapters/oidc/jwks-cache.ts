import {
  createLocalJWKSet,
  errors,
  type CompactJWSHeaderParameters,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
} from 'jose';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Refetched after this long even if every key is known, because the issuer may have withdrawn one. */
const FRESH_MS = 10 * 60_000;
/** If the issuer does not respond, its last keys stay valid for this long. */
const STALE_MS = 24 * 60 * 60_000;
/** An unknown key id triggers a refetch, at most this often. */
const ASK_AGAIN_MS = 30_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;

type Keys = (header: CompactJWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** The published keys of one issuer. Fetches one at a time, with limits on time and size, and refuses redirects. */
export class JwksCache {
  readonly #url: string;
  readonly #fetch: Fetch;
  readonly #now: () => Date;
  #keys: Keys | undefined;
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(url: string, fetch: Fetch, now: () => Date) {
    this.#url = url;
    this.#fetch = fetch;
    this.#now = now;
  }

  readonly find = async (header: CompactJWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> => {
    if (this.#age() >= FRESH_MS) await this.#refresh();
    try {
      return await this.#current()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      return this.#current()(header, token);
    }
  };

  #current(): Keys {
    if (this.#keys === undefined || this.#age() >= STALE_MS) throw new errors.JWKSNoMatchingKey();
    return this.#keys;
  }

  #age(): number {
    return this.#now().getTime() - this.#fetchedAtMs;
  }

  /** Keeps the current keys if the fetch fails; the caller then finds them stale or missing. */
  async #refresh(): Promise<void> {
    if (this.#running !== undefined) return this.#running;
    const nowMs = this.#now().getTime();
    if (nowMs - this.#askedAtMs < ASK_AGAIN_MS) return;
    this.#askedAtMs = nowMs;
    this.#running = this.#load().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #load(): Promise<void> {
    try {
      const response = await this.#fetch(this.#url, {
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: { accept: 'application/jwk-set+json, application/json' },
      });
      const text = await readBounded(response);
      if (!response.ok) return;
      this.#keys = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet); // the library validates the shape and throws
      this.#fetchedAtMs = this.#now().getTime();
    } catch {
      // Unreachable, too large or not a key set: the same as no answer. The next token asks again.
    }
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAX_BYTES) throw new Error('the key set is too large'); // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
