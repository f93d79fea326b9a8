import { createHmac } from 'node:crypto';
import type { Clock } from '@svc/runtime';
import { deriveSigningKey, type SigningKey } from '@svc/s3-sign';
import { serviceUnavailable, storeErrors } from '../errors.ts';
import type { MakerRights, StoreAction } from './ports/maker-rights.ts';
import type { MetadataStore } from './ports/metadata-store.ts';
import type { AccessKeyRecord } from './ports/records.ts';
import type { KeyRing } from './secrets/key-ring.ts';
import { createCaller, keyActions, mayDo, type Caller } from './caller.ts';

/** A key of the S3 plane and its means of verifying signatures. */
export interface Credential {
  readonly key: AccessKeyRecord;
  /** Actions that the key allows and its creator currently may do. */
  readonly actions: ReadonlySet<StoreAction>;
  /** The SigV4 signing key for a day and region. */
  signingKey(date: string, region: string): SigningKey;
  /** The older signature of an upload form: HMAC-SHA1 over its encoded policy, in base64. */
  formSignature(policy: string): string;
}

export interface CredentialCacheOptions {
  metadata: Pick<MetadataStore, 'findAccessKey'>;
  secrets: Pick<KeyRing, 'open'>;
  rights: MakerRights;
  clock: Clock;
  /** How long a change of the key or of its creator's rights can go unnoticed. */
  maxAgeMs?: number;
  maxKeys?: number;
}

interface Entry {
  credential: Credential;
  loadedAtMs: number;
}

const DEFAULT_MAX_AGE_MS = 500;
/** How long a cached entry stays valid while the key or rights cannot be read. After that, requests are refused. */
const MAX_STALE_MS = 1_000;
const DEFAULT_MAX_KEYS = 2_048;
const SIGNING_KEYS_EACH = 8;

/**
 * Caches keys in use with their creators' rights, bounded in age and number. Revoking a key in this process takes
 * effect at once; changes made elsewhere take effect within the maximum age.
 */
export class CredentialCache {
  readonly #options: CredentialCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new Map<string, Promise<Entry | null>>();
  readonly #usedAtMs = new Map<string, number>();

  constructor(options: CredentialCacheOptions) {
    this.#options = options;
  }

  /** Null if the key is unknown or expired, or if its creator has lost all rights in the workspace. */
  find(accessKeyId: string): Promise<Credential | null> {
    return this.#find(accessKeyId, this.#options.maxAgeMs ?? DEFAULT_MAX_AGE_MS);
  }

  async #find(accessKeyId: string, maxAgeMs: number): Promise<Credential | null> {
    const { clock } = this.#options;
    const known = this.#entries.get(accessKeyId);
    const entry =
      known !== undefined && clock.nowMs() - known.loadedAtMs < maxAgeMs ? known : await this.#reload(accessKeyId);
    return entry === null ? null : this.#inForce(entry.credential);
  }

  /**
   * Throws `InvalidAccessKeyId` or `AccessDenied` if the key of a running request no longer allows the action. Reads
   * the key again, since such checks are rare and the age of an entry would add to the time between them.
   */
  async assertStillValid({ accessKeyId }: Caller, needed: StoreAction, bucketName: string | null): Promise<void> {
    if (accessKeyId === null) return;
    const credential = await this.#find(accessKeyId, 0);
    if (credential === null) throw storeErrors.InvalidAccessKeyId({ details: { accessKeyId } });
    if (!mayDo(createCaller(credential), needed, bucketName)) throw storeErrors.AccessDenied();
  }

  forget(accessKeyId: string): void {
    this.#entries.delete(accessKeyId);
    this.#loads.delete(accessKeyId); // a load in progress may be outdated
  }

  async #reload(accessKeyId: string): Promise<Entry | null> {
    const known = this.#entries.get(accessKeyId);
    try {
      return await (this.#loads.get(accessKeyId) ?? this.#startLoad(accessKeyId));
    } catch (error) {
      if (known !== undefined && this.#options.clock.nowMs() - known.loadedAtMs < MAX_STALE_MS) return known;
      throw serviceUnavailable(error);
    }
  }

  /** Concurrent misses of one key share a query. */
  #startLoad(accessKeyId: string): Promise<Entry | null> {
    const isCurrent = (): boolean => this.#loads.get(accessKeyId) === load;
    const load = this.#load(accessKeyId)
      .then((entry) => {
        if (isCurrent() && entry !== null) this.#remember(accessKeyId, entry);
        if (isCurrent() && entry === null) this.#entries.delete(accessKeyId);
        return entry;
      })
      .finally(() => {
        if (isCurrent()) this.#loads.delete(accessKeyId);
      });
    this.#loads.set(accessKeyId, load);
    return load;
  }

  async #load(accessKeyId: string): Promise<Entry | null> {
    const { clock, metadata, rights } = this.#options;
    const loadedAtMs = clock.nowMs();
    const key = await metadata.findAccessKey({ accessKeyId });
    if (key === null) return null;
    const { createdBy: maker, workspaceUuid } = key;
    const wanted = keyActions(key);
    const allowed = await rights.allowedActions({ maker, workspaceUuid, actions: wanted });
    const actions = new Set(wanted.filter((action) => allowed.has(action)));
    const known = this.#entries.get(accessKeyId)?.credential;
    const opened = known?.key.sealedSecret === key.sealedSecret ? known : await this.#open(key);
    return { credential: { ...opened, key, actions }, loadedAtMs };
  }

  noteUse(accessKeyId: string): void {
    this.#usedAtMs.set(accessKeyId, this.#options.clock.nowMs());
  }

  /** Last use of each key since the previous call. */
  takeUses(): Readonly<Record<string, number>> {
    const uses = Object.fromEntries(this.#usedAtMs);
    this.#usedAtMs.clear();
    return uses;
  }

  #inForce(credential: Credential): Credential | null {
    const { expiresAtMs } = credential.key;
    const isExpired = expiresAtMs !== null && expiresAtMs <= this.#options.clock.nowMs();
    return isExpired || credential.actions.size === 0 ? null : credential;
  }

  #remember(accessKeyId: string, entry: Entry): void {
    this.#entries.delete(accessKeyId); // reinserted at the end: map order is order of use
    this.#entries.set(accessKeyId, entry);
    if (this.#entries.size <= (this.#options.maxKeys ?? DEFAULT_MAX_KEYS)) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  async #open(key: AccessKeyRecord): Promise<Pick<Credential, 'formSignature' | 'signingKey'>> {
    const secret = await this.#options.secrets.open(key.sealedSecret, key.accessKeyId);
    const derived = new Map<string, SigningKey>();
    return {
      formSignature: (policy) => createHmac('sha1', secret).update(policy).digest('base64'),
      signingKey: (date, region) => {
        const scope = `${date}/${region}`;
        const known = derived.get(scope);
        if (known !== undefined) return known;
        const fresh = deriveSigningKey(secret, date, region);
        if (derived.size >= SIGNING_KEYS_EACH) derived.clear();
        derived.set(scope, fresh);
        return fresh;
      },
    };
  }
}
