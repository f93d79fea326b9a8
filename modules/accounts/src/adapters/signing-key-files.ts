import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '@svc/runtime';
import { Check } from 'typebox/schema';
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

/** Parses a stored key. `place` is for the message of a damaged one. */
export function parseSigningKey(text: string, place: string): SigningKeyRecord {
  const parsed: unknown = JSON.parse(text);
  if (Check(KEY_FILE, parsed)) return parsed;
  throw new Error(`the signing key ${place} is damaged; restore it or remove it`);
}

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
    if (!existsSync(this.#folder)) return [];
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json')).slice(0, MAX_KEYS);
    const records: SigningKeyRecord[] = [];
    for (const name of names) {
      records.push(parseSigningKey(await readFile(join(this.#folder, name), 'utf8'), name));
    }
    return records;
  }

  async save(record: SigningKeyRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `.${record.kid}.${randomUUID()}`); // replicas may share the folder
    await replaceFile(join(this.#folder, `${record.kid}.json`), `${JSON.stringify(record, null, 2)}\n`, { draft });
  }

  async remove(kid: string): Promise<void> {
    if (!existsSync(this.#folder)) return;
    await rm(join(this.#folder, `${kid}.json`), { force: true });
    await syncFolder(this.#folder);
  }
}
