import { createSecretKey, randomBytes, X509Certificate, type KeyObject } from 'node:crypto';
import { replicaUri, type ReplicaIdentity } from '@svc/forward';
import { SECRET_CHANNEL, type SealedSecrets } from '@svc/replicas';
import { BackgroundLoop } from '@svc/runtime';
import type { DatabaseEvents } from '@svc/sql';
import type { Logger } from '@svc/telemetry';
import { makeCertificates } from './make-certificates.ts';
import type { PemPair } from '@svc/certificates';

const SECRET = 'internal-authority';
const NAME = 'svc replicas';
const CHECK_EVERY_MS = 60_000;
/** A new authority is trusted for so long before it is used: longer than replicas take to read it without events. */
const ANNOUNCED_MS = 5 * 60_000;
/** An old authority is trusted for so long after its use, for replicas that were cut off. */
const KEPT_MS = 24 * 3_600_000;
const RENEW_BEFORE_MS = 365 * 24 * 3_600_000;

/** What all replicas identify themselves with from a time on: the authority of their certificates, the key of hops. */
interface Generation {
  readonly authority: PemPair;
  /** In hexadecimal. */
  readonly hopKey: string;
  readonly usedFromMs: number;
}

/** As stored. Versions without renewal know the two fields of the generation in use only. */
interface StoredGenerations {
  readonly authority: PemPair;
  readonly hopKey: string;
  readonly usedFromMs?: number;
  readonly others?: readonly Generation[];
}

/** Dependencies of the identity. */
export interface InternalIdentityDeps {
  readonly secrets: Pick<SealedSecrets, 'ensure' | 'find' | 'update'>;
  /** This replica, and the database's time. */
  readonly replica: { readonly id: string; nowMs(): number };
  readonly log: Logger;
}

/**
 * The identity of this process among the replicas of its database. The first replica creates the authority, and any one
 * renews it a year before it ends: old and new are trusted side by side, so nothing needs a restart. The authority's key
 * is sealed in the database under the master key; the key of the certificate never leaves this process.
 */
export class InternalIdentity {
  readonly #deps: InternalIdentityDeps;
  readonly #listeners = new Set<(identity: ReplicaIdentity) => void>();
  readonly #loop: BackgroundLoop;
  #generations: readonly Generation[] = [];
  #current: { readonly used: Generation; readonly identity: ReplicaIdentity } | null = null;
  #unsubscribe = (): void => undefined;

  private constructor(deps: InternalIdentityDeps) {
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: () => this.refresh(),
      intervalMs: CHECK_EVERY_MS,
      onError: (err) => deps.log.warn({ err }, 'the authority of the replicas could not be checked'),
    });
  }

  static async open(deps: InternalIdentityDeps): Promise<InternalIdentity> {
    const identity = new InternalIdentity(deps);
    await deps.secrets.ensure(SECRET, async () => {
      const nowMs = deps.replica.nowMs();
      return encode([await createGeneration(0, nowMs)], nowMs);
    });
    await identity.refresh();
    return identity;
  }

  get identity(): ReplicaIdentity {
    if (this.#current === null) throw new Error('it is there once it is open');
    return this.#current.identity;
  }

  /** When the authority in use ends. */
  get expiresAt(): Date {
    return expiryOf(inUse(this.#generations, this.#deps.replica.nowMs()));
  }

  /** Calls the listener with each new identity. */
  onChange(listener: (identity: ReplicaIdentity) => void): void {
    this.#listeners.add(listener);
  }

  /** Follows renewals, by this replica or others, until `close`. */
  follow(events: DatabaseEvents): void {
    this.#loop.start();
    this.#unsubscribe = events.subscribe(SECRET_CHANNEL, {
      onEvent: (name) => {
        if (name === SECRET) this.#loop.wake();
      },
      onMissed: () => this.#loop.wake(),
    });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.close();
  }

  /** Renews the authority if it ends within a year, and takes over what this or another replica has changed. */
  async refresh(): Promise<void> {
    const { secrets, replica, log } = this.#deps;
    if (await change(secrets, replica.nowMs(), expiresSoon)) log.info('the authority of the replicas was changed');
    const content = await secrets.find(SECRET);
    if (content === null) throw new Error('the authority of the replicas is gone');
    const generations = decode(content);
    const used = inUse(generations, replica.nowMs());
    if (this.#current?.used.hopKey === used.hopKey && namesOf(generations) === namesOf(this.#generations)) return;
    const identity = await this.#identify(generations, used);
    this.#generations = generations;
    this.#current = { used, identity };
    for (const listener of this.#listeners) listener(identity);
  }

  async #identify(generations: readonly Generation[], used: Generation): Promise<ReplicaIdentity> {
    const { id } = this.#deps.replica;
    const certificate = { uri: replicaUri(id) };
    const now = new Date().toISOString();
    const { certificate: own } = await makeCertificates({ authority: used.authority, certificate, now });
    return {
      ca: generations.map(({ authority }) => authority.cert),
      ...own,
      hopKey: keyOf(used),
      hopKeys: generations.map(keyOf),
    };
  }
}

/**
 * Announces a new authority, which replicas use from the returned time on; one that is already announced stays. Null if
 * no replica has needed one yet.
 */
export async function renewInternalAuthority(
  secrets: Pick<SealedSecrets, 'find' | 'update'>,
  nowMs: number,
): Promise<Date | null> {
  await change(secrets, nowMs, () => true);
  const content = await secrets.find(SECRET);
  const newest = content === null ? undefined : decode(content).at(-1);
  return newest === undefined ? null : new Date(newest.usedFromMs);
}

/** Drops what is no longer trusted, and announces a new generation if the newest one is to be renewed. */
function change(
  secrets: Pick<SealedSecrets, 'update'>,
  nowMs: number,
  isDue: (newest: Generation, nowMs: number) => boolean,
): Promise<boolean> {
  return secrets.update(SECRET, async (content) => {
    const generations = decode(content);
    const used = inUse(generations, nowMs);
    const kept = generations.filter(
      ({ usedFromMs }) => usedFromMs >= used.usedFromMs || used.usedFromMs + KEPT_MS > nowMs,
    );
    const newest = kept.at(-1) ?? used;
    const isAnnounced = newest.usedFromMs > nowMs;
    if (!isAnnounced && isDue(newest, nowMs)) kept.push(await createGeneration(nowMs + ANNOUNCED_MS, nowMs));
    return kept.length === generations.length ? null : encode(kept, nowMs);
  });
}

async function createGeneration(usedFromMs: number, nowMs: number): Promise<Generation> {
  const now = new Date(nowMs).toISOString();
  const authority = { name: `${NAME} ${now}` }; // a name of its own, so that certificates find their issuer
  const made = await makeCertificates({ authority, certificate: { uri: replicaUri('none') }, now });
  return { authority: made.authority, hopKey: randomBytes(32).toString('hex'), usedFromMs };
}

function expiresSoon(generation: Generation, nowMs: number): boolean {
  return expiryOf(generation).getTime() - nowMs < RENEW_BEFORE_MS;
}

function expiryOf({ authority }: Generation): Date {
  return new Date(new X509Certificate(authority.cert).validTo);
}

function namesOf(generations: readonly Generation[]): string {
  return generations.map(({ hopKey }) => hopKey).join();
}

function keyOf({ hopKey }: Generation): KeyObject {
  return createSecretKey(Buffer.from(hopKey, 'hex'));
}

/** The newest one whose time has come. */
function inUse(generations: readonly Generation[], nowMs: number): Generation {
  const used = generations.findLast(({ usedFromMs }) => usedFromMs <= nowMs) ?? generations[0];
  if (used === undefined) throw new Error('the replicas have no authority');
  return used;
}

/** Oldest first. */
function decode(content: Buffer): Generation[] {
  const { others = [], authority, hopKey, usedFromMs = 0 } = JSON.parse(content.toString('utf8')) as StoredGenerations; // written by `encode`
  return [...others, { authority, hopKey, usedFromMs }].toSorted((left, right) => left.usedFromMs - right.usedFromMs);
}

function encode(generations: readonly Generation[], nowMs: number): Buffer {
  const used = inUse(generations, nowMs);
  const stored: StoredGenerations = { ...used, others: generations.filter((each) => each !== used) };
  return Buffer.from(JSON.stringify(stored));
}
