import { createSecretKey, type KeyObject } from 'node:crypto';
import { isAppError } from '@svc/errors';
import { keyErrors, openBytes, sealBytes, type KeyWrapper } from '@svc/keys';
import type { Clock } from '@svc/runtime';
import { storeErrors } from '../../errors.ts';
import { parseStoreKey, type StoreKey } from '../ports/key-ring.ts';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { SecretBox } from './secret-box.ts';

const KEY_BYTES = 32;
/** How long sealing can go on before noticing a new key of another process. */
const SEALING_AGE_MS = 2_000;
/** A rotation in progress leaves at most one extra key; more means that the ring was not cleaned up. */
const MOST_UNWRAPPED = 16;
/** Share of a key's cache time after which it is unwrapped again, so that a short outage goes unnoticed. */
const REFRESH_AT = 0.8;

export interface KeyRingDeps {
  metadata: Pick<MetadataStore, 'storeKeys' | 'addStoreKey'>;
  wrapper: KeyWrapper;
  /** For data sealed before the ring existed. */
  legacy: SecretBox;
  /** How long an unwrapped key is kept in memory. */
  cacheMs: number;
  random: (size: number) => Buffer;
  clock: Clock;
}

interface Unwrapped {
  key: KeyObject;
  atMs: number;
  refreshing: boolean;
}

/**
 * The store's key-encryption keys. They are stored wrapped in its database, so that every replica and backup has them.
 * Sealed data carries the id of its key: `v2:<id>:<base64>`. Throws `KeyServiceUnavailable` if a key is needed that
 * cannot be unwrapped.
 */
export class KeyRing {
  readonly #deps: KeyRingDeps;
  readonly #unwrapped = new Map<number, Unwrapped>();
  readonly #unwrapping = new Map<number, Promise<KeyObject>>();
  #keys: readonly StoreKey[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: KeyRingDeps) {
    this.#deps = deps;
  }

  /** The context, such as the row's id, is authenticated with the secret. */
  async seal(secret: string, context: string): Promise<string> {
    const { id, key } = await this.#sealing();
    return `v2:${id}:${sealBytes(key, Buffer.from(secret), context, this.#deps.random).toString('base64')}`;
  }

  /** Throws `MasterKeyInvalid` for data that was not sealed with a key of this store. */
  async open(sealed: string, context: string): Promise<string> {
    const id = parseStoreKey(sealed);
    if (id === null) throw doesNotOpen('does not decrypt a stored secret');
    if (id === 0) return this.#deps.legacy.open(sealed, context);
    const key = await this.#unwrap(id);
    const opened = openBytes(key, Buffer.from(sealed.slice(sealed.lastIndexOf(':') + 1), 'base64'), context);
    if (opened === null) throw doesNotOpen('does not decrypt a stored secret');
    return opened.toString('utf8');
  }

  /** Reseals data under the current key. Null if it already is. */
  async reseal(sealed: string, context: string): Promise<string | null> {
    const { id } = await this.#sealing();
    if (parseStoreKey(sealed) === id) return null;
    return await this.seal(await this.open(sealed, context), context);
  }

  /**
   * Creates another key, which seals from now on, and returns its id. Creates the first key before it if the ring is
   * empty: a rotation needs two keys, and only a rotation reseals data sealed under the master key itself.
   */
  async addKey(): Promise<number> {
    for (;;) {
      const newest = (await this.refresh()).at(-1)?.id ?? 0;
      const id = newest + 1;
      if ((await this.#make(id)) && newest > 0) {
        await this.refresh();
        return id;
      }
    }
  }

  /** Reads the current keys. */
  async refresh(): Promise<readonly StoreKey[]> {
    const readAtMs = this.#deps.clock.nowMs();
    this.#keys = await this.#deps.metadata.storeKeys({});
    this.#readAtMs = readAtMs;
    return this.#keys;
  }

  /** Throws if this process cannot unwrap a key of the store. Does not call a key service. */
  async check(): Promise<void> {
    for (const { wrapper } of await this.refresh()) {
      if (!this.#deps.wrapper.opens(wrapper)) {
        throw keyErrors.KEY_NOT_OPENED({
          details: { wrapper, reason: 'no configured key service knows this wrapper' },
        });
      }
      if (wrapper.startsWith('local:')) await this.#unwrap(this.#keys.find((key) => key.wrapper === wrapper)?.id ?? 0);
    }
  }

  async #sealing(): Promise<{ id: number; key: KeyObject }> {
    const { clock } = this.#deps;
    if (clock.nowMs() - this.#readAtMs >= SEALING_AGE_MS) await this.refresh();
    if (this.#keys.length === 0) {
      await this.#make(1);
      await this.refresh();
    }
    const id = this.#keys.at(-1)?.id ?? 1;
    return { id, key: await this.#unwrap(id) };
  }

  async #make(id: number): Promise<boolean> {
    const { wrapper, metadata, random, clock } = this.#deps;
    const { wrapper: name, text } = await usable(wrapper.wrap(random(KEY_BYTES), contextOf(id)));
    return await metadata.addStoreKey({ id, wrapper: name, wrapped: text, nowMs: clock.nowMs() });
  }

  async #unwrap(id: number): Promise<KeyObject> {
    const { clock, cacheMs } = this.#deps;
    const known = this.#unwrapped.get(id);
    const ageMs = known === undefined ? 0 : clock.nowMs() - known.atMs;
    if (known !== undefined && ageMs < cacheMs) {
      if (ageMs >= cacheMs * REFRESH_AT && !known.refreshing) this.#refreshBehind(id, known);
      return known.key;
    }
    return await this.#unwrapOnce(id);
  }

  /** The cached key stays in use until it expires. A failure surfaces when the key is needed after that. */
  #refreshBehind(id: number, known: Unwrapped): void {
    known.refreshing = true;
    this.#unwrapOnce(id).catch(() => {
      known.refreshing = false;
    });
  }

  /** Concurrent requests for one key share a call. */
  #unwrapOnce(id: number): Promise<KeyObject> {
    const running = this.#unwrapping.get(id);
    if (running !== undefined) return running;
    const asked = this.#unwrapNow(id).finally(() => this.#unwrapping.delete(id));
    this.#unwrapping.set(id, asked);
    return asked;
  }

  async #unwrapNow(id: number): Promise<KeyObject> {
    const stored = this.#keys.find((key) => key.id === id) ?? (await this.refresh()).find((key) => key.id === id);
    if (stored === undefined) throw doesNotOpen(`has no key ${id} beside it, which a stored secret needs`);
    const bytes = await usable(this.#unwrapStored(stored));
    const key = createSecretKey(bytes);
    this.#unwrapped.delete(id);
    this.#unwrapped.set(id, { key, atMs: this.#deps.clock.nowMs(), refreshing: false });
    const oldest = this.#unwrapped.size > MOST_UNWRAPPED ? this.#unwrapped.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#unwrapped.delete(oldest.value);
    return key;
  }

  /** Retries with the stored value: the key may have been rewrapped since the ring was read. */
  async #unwrapStored({ id, wrapper, wrapped }: StoreKey): Promise<Buffer> {
    try {
      return await this.#deps.wrapper.unwrap({ wrapper, text: wrapped }, contextOf(id));
    } catch (error) {
      const now = (await this.refresh()).find((key) => key.id === id);
      if (now === undefined || now.wrapped === wrapped) throw error;
      return await this.#deps.wrapper.unwrap({ wrapper: now.wrapper, text: now.wrapped }, contextOf(id));
    }
  }
}

/** Binds a wrapped key to its id. */
export function contextOf(id: number): string {
  return `store-key/${id}`;
}

async function usable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'KEY_SERVICE_UNAVAILABLE') throw cause;
    const { details, headers } = cause;
    throw storeErrors.KeyServiceUnavailable({ details, headers, cause });
  }
}

function doesNotOpen(reason: string): Error {
  return storeErrors.MasterKeyInvalid({ details: { reason } });
}
