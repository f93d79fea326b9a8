import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '@svc/runtime';
import { Value } from 'typebox/value';
import { Type } from 'typebox';
import type { SigningKeyRecord, SigningKeyStore } from '../domain/jwt/signing-key.ts';

const KEY_FILE = Type.Object({
  kid: Type.String(),
  createdAt: Type.String(),
  publicJwk: Type.Object({ kty: Type.Literal('OKP'), crv: Type.Literal('Ed25519'), x: Type.String() }),
  d: Type.Union([Type.String(), Type.Null()]),
  verifyUntil: Type.Union([Type.String(), Type.Null()]),
});

const MAX_KEYS = 100;

/**
 * One file per key (mode 0600) in its own folder (0700). Written to a temporary file and renamed, so a file is never
 * partial.
 */
export class SigningKeyFiles implements SigningKeyStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(): Promise<SigningKeyRecord[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json')).slice(0, MAX_KEYS);
    const records: SigningKeyRecord[] = [];
    for (const name of names) {
      const parsed: unknown = JSON.parse(await readFile(join(this.#folder, name), 'utf8'));
      if (!Value.Check(KEY_FILE, parsed))
        throw new Error(`the signing key ${name} is damaged; restore it or remove it`);
      records.push(parsed);
    }
    return records;
  }

  async save(record: SigningKeyRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `.${record.kid}.${randomUUID()}`); // replicas may share the folder
    await replaceFile(join(this.#folder, `${record.kid}.json`), `${JSON.stringify(record, null, 2)}\n`, { draft });
  }

  async remove(kid: string): Promise<void> {
    await rm(join(this.#folder, `${kid}.json`), { force: true });
    await syncFolder(this.#folder);
  }
}
