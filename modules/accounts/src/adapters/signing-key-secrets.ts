import type { SealedSecrets } from '@svc/replicas';
import type { SigningKeyRecord, SigningKeyStore } from '../domain/jwt/signing-key.ts';
import { parseSigningKey, type SigningKeyFiles } from './signing-key-files.ts';

/** Names of the secrets begin with this. */
export const SIGNING_KEY_PREFIX = 'jwt/';

/**
 * Signing keys in the database, for all replicas. The first start copies those of the data folder in. Their files stay
 * for replicas of an earlier version, are not read again, and go when their key is retired.
 */
export class SigningKeySecrets implements SigningKeyStore {
  readonly #secrets: SealedSecrets;
  readonly #files: SigningKeyFiles;

  constructor(secrets: SealedSecrets, files: SigningKeyFiles) {
    this.#secrets = secrets;
    this.#files = files;
  }

  async load(): Promise<SigningKeyRecord[]> {
    const stored = await this.#read();
    if (stored.length > 0) return stored;
    const records = await this.#files.load();
    for (const record of records) await this.#secrets.ensure(nameOf(record.kid), async () => serialize(record));
    return records.length === 0 ? [] : await this.#read();
  }

  async save(record: SigningKeyRecord): Promise<void> {
    await this.#secrets.put(nameOf(record.kid), serialize(record));
    if (record.d === null) await this.#files.remove(record.kid);
  }

  async remove(kid: string): Promise<void> {
    await this.#secrets.remove(nameOf(kid));
    await this.#files.remove(kid);
  }

  async #read(): Promise<SigningKeyRecord[]> {
    const boxes = await this.#secrets.list(SIGNING_KEY_PREFIX);
    return boxes.map((box) => parseSigningKey(box.toString(), 'in the database'));
  }
}

function nameOf(kid: string): string {
  return `${SIGNING_KEY_PREFIX}${kid}`;
}

function serialize(record: SigningKeyRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}
