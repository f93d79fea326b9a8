import { createHmac } from 'node:crypto';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { AccessKeyRecord } from '../ports/records.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { SigningKey } from './signing-key.ts';

/** A key of the S3 plane with what its signatures are checked with. */
export interface Credential {
  readonly key: AccessKeyRecord;
  /** The key of SigV4 for one day and region. */
  signingKey(date: string, region: string): SigningKey;
  /** The older signature of an upload form: HMAC-SHA1 over its encoded policy, in base64. */
  formSignature(policy: string): string;
}

export interface CredentialCacheOptions {
  metadata: Pick<MetadataStore, 'findAccessKey'>;
  secrets: SecretBox;
  now: () => number;
  /** How long a revocation made by another process can go unseen. */
  maxAgeMs?: number;
  maxKeys?: number;
}

interface Entry {
  credential: Credential;
  loadedAtMs: number;
}

const DEFAULT_MAX_AGE_MS = 500;
const DEFAULT_MAX_KEYS = 2_048;
const SIGNING_KEYS_EACH = 8;

/** Keys in use, with bounded age and number. What is revoked here is gone at once, elsewhere within the age. */
export class CredentialCache {
  readonly #options: CredentialCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #usedAtMs = new Map<string, number>();

  constructor(options: CredentialCacheOptions) {
    this.#options = options;
  }

  async find(accessKeyId: string): Promise<Credential | null> {
    const { now, metadata, maxAgeMs = DEFAULT_MAX_AGE_MS } = this.#options;
    const known = this.#entries.get(accessKeyId);
    if (known !== undefined && now() - known.loadedAtMs < maxAgeMs) return this.#unexpired(known.credential);
    const loadedAtMs = now();
    const key = await metadata.findAccessKey({ accessKeyId });
    if (key === null) {
      this.#entries.delete(accessKeyId);
      return null;
    }
    const same = known?.credential.key.sealedSecret === key.sealedSecret;
    const credential = known !== undefined && same ? { ...known.credential, key } : this.#open(key);
    this.#remember(accessKeyId, { credential, loadedAtMs });
    return this.#unexpired(credential);
  }

  forget(accessKeyId: string): void {
    this.#entries.delete(accessKeyId);
  }

  noteUse(accessKeyId: string): void {
    this.#usedAtMs.set(accessKeyId, this.#options.now());
  }

  /** When each key was last used, since the last time this was asked. */
  takeUses(): Readonly<Record<string, number>> {
    const uses = Object.fromEntries(this.#usedAtMs);
    this.#usedAtMs.clear();
    return uses;
  }

  #unexpired(credential: Credential): Credential | null {
    const { expiresAtMs } = credential.key;
    return expiresAtMs !== null && expiresAtMs <= this.#options.now() ? null : credential;
  }

  #remember(accessKeyId: string, entry: Entry): void {
    this.#entries.delete(accessKeyId); // inserted last: the map's order is the order of use
    this.#entries.set(accessKeyId, entry);
    if (this.#entries.size <= (this.#options.maxKeys ?? DEFAULT_MAX_KEYS)) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  #open(key: AccessKeyRecord): Credential {
    const secret = this.#options.secrets.open(key.sealedSecret, key.accessKeyId);
    const derived = new Map<string, SigningKey>();
    return {
      key,
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

/** The key derivation of Signature Version 4, for the service `s3`. */
export function deriveSigningKey(secret: string, date: string, region: string): SigningKey {
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of [date, region, 's3', 'aws4_request']) key = createHmac('sha256', key).update(part).digest();
  return new SigningKey(key);
}
