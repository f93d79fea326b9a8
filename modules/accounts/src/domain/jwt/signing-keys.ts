import type { KeyObject } from 'node:crypto';
import type { Clock } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import {
  type Ed25519Jwk,
  generateSigningKey,
  importPrivateKey,
  importPublicKey,
  type SigningKeyRecord,
  type SigningKeyStore,
} from './signing-key.ts';

export interface PublishedKey extends Ed25519Jwk {
  kid: string;
  alg: 'EdDSA';
  use: 'sig';
}

interface LoadedKey {
  record: SigningKeyRecord;
  publicKey: KeyObject;
  privateKey: KeyObject | undefined;
}

/**
 * After another process rotates the keys, this one may sign with the old key until it reloads; those tokens must stay
 * valid.
 */
const RETIRE_MARGIN_SECONDS = 600;
const RELOAD_AT_MOST_EVERY_MS = 5_000;

/** The platform's signing keys: the newest one signs; retired ones verify until the tokens they signed have expired. */
export class SigningKeys {
  readonly #store: SigningKeyStore;
  readonly #clock: Clock;
  readonly #tokenLifetimeSeconds: number;
  #keys: ReadonlyMap<string, LoadedKey> = new Map();
  #loadedAtMs = 0;

  private constructor(store: SigningKeyStore, clock: Clock, tokenLifetimeSeconds: number) {
    this.#store = store;
    this.#clock = clock;
    this.#tokenLifetimeSeconds = tokenLifetimeSeconds;
  }

  /** Reads the keys and creates the first one. `tokenLifetimeSeconds` is the longest lifetime of any token. */
  static async open(store: SigningKeyStore, clock: Clock, tokenLifetimeSeconds: number): Promise<SigningKeys> {
    const keys = new SigningKeys(store, clock, tokenLifetimeSeconds);
    await keys.reload();
    if (keys.#newest() === undefined) {
      await store.save(generateSigningKey(timestamp(clock.now())));
      await keys.reload();
    }
    return keys;
  }

  signer(): { kid: string; key: KeyObject } {
    const newest = this.#newest();
    if (newest?.privateKey === undefined) throw new Error('no signing key; all were removed while running');
    return { kid: newest.record.kid, key: newest.privateKey };
  }

  /** Undefined if the key is unknown or expired. */
  async verifier(kid: string): Promise<KeyObject | undefined> {
    const now = this.#clock.now();
    if (!this.#keys.has(kid) && now.getTime() - this.#loadedAtMs >= RELOAD_AT_MOST_EVERY_MS) await this.reload();
    const key = this.#keys.get(kid);
    return key === undefined || isPast(key.record, now) ? undefined : key.publicKey;
  }

  /** RFC 7517 key set. */
  published(): { keys: PublishedKey[] } {
    const now = this.#clock.now();
    const alive = [...this.#keys.values()].filter(({ record }) => !isPast(record, now));
    return { keys: alive.map(({ record }) => ({ ...record.publicJwk, kid: record.kid, alg: 'EdDSA', use: 'sig' })) };
  }

  /** Creates a new signing key and drops the private half of all others. Returns the id of the new key. */
  async rotate(): Promise<string> {
    await this.reload();
    const now = this.#clock.now();
    const fresh = generateSigningKey(timestamp(now));
    await this.#store.save(fresh);
    const verifyUntil = timestamp(secondsAfter(now, this.#tokenLifetimeSeconds + RETIRE_MARGIN_SECONDS));
    for (const { record } of this.#keys.values()) {
      if (record.d !== null) await this.#store.save({ ...record, d: null, verifyUntil });
    }
    await this.reload();
    return fresh.kid;
  }

  /** Rereads the stored keys and removes expired ones. */
  async reload(): Promise<void> {
    const now = this.#clock.now();
    this.#loadedAtMs = now.getTime();
    const keys = new Map<string, LoadedKey>();
    for (const record of await this.#store.load()) {
      if (isPast(record, now)) await this.#store.remove(record.kid);
      else keys.set(record.kid, { record, publicKey: importPublicKey(record), privateKey: importPrivateKey(record) });
    }
    this.#keys = keys;
  }

  #newest(): LoadedKey | undefined {
    return [...this.#keys.values()]
      .filter(({ privateKey }) => privateKey !== undefined)
      .toSorted((left, right) => right.record.createdAt.localeCompare(left.record.createdAt))[0];
  }
}

function isPast(record: SigningKeyRecord, now: Date): boolean {
  return record.verifyUntil !== null && record.verifyUntil <= timestamp(now);
}
