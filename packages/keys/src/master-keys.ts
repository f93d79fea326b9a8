import { createSecretKey, type KeyObject } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '@svc/runtime';
import { keyErrors } from './errors.ts';

const KEY_BYTES = 32;

/** Where master keys come from. */
export interface MasterKeySource {
  /** From the configuration: 64 hexadecimal digits or base64 of 32 bytes. Takes precedence over the file. */
  configured?: string | undefined;
  /** From the configuration: previous keys, which only open. */
  previous?: readonly string[] | undefined;
  /** Created with mode 0600 if missing. */
  file: string;
  random: (size: number) => Buffer;
}

/** The current master key and previous ones. */
export interface MasterKeys {
  current: KeyObject;
  /** Previous keys, which only open. */
  others: readonly KeyObject[];
}

/** Loads the key that wraps all others. Refuses a key file that other users can read. */
export async function loadMasterKeys(source: MasterKeySource): Promise<MasterKeys> {
  const previous = (source.previous ?? []).map(parseMasterKey);
  if (source.configured !== undefined) return { current: parseMasterKey(source.configured), others: previous };
  const existing = await readKeyFile(source.file);
  if (existing === null) await writeKeyFile(source.file, source.random(KEY_BYTES).toString('hex'), source.random);
  const current = parseMasterKey(existing ?? (await readKeyFile(source.file)) ?? '');
  const next = await readKeyFile(nextFile(source.file));
  return { current, others: [...previous, ...(next === null ? [] : [parseMasterKey(next)])] };
}

/** A rotation of the master key in progress. */
export interface MasterKeyChange {
  /** The new key is current; the old one still opens. */
  keys: MasterKeys;
  /** Removes the old key. Call it only after everything wrapped by it has been wrapped again. */
  finish(): Promise<void>;
}

/**
 * Starts or resumes a rotation of the key file. The new key lies next to the old one until `finish`, and every process
 * reads both meanwhile. A configured key is rotated in the configuration, so nothing is written: throws
 * `MASTER_KEY_CONFIGURED` if no previous key is configured.
 */
export async function beginMasterKeyChange(source: MasterKeySource): Promise<MasterKeyChange> {
  if (source.configured !== undefined) {
    if ((source.previous ?? []).length === 0) throw keyErrors.MASTER_KEY_CONFIGURED();
    return { keys: await loadMasterKeys(source), finish: async () => undefined };
  }
  const { current: old } = await loadMasterKeys(source);
  const next = nextFile(source.file);
  if ((await readKeyFile(next)) === null) {
    await writeKeyFile(next, source.random(KEY_BYTES).toString('hex'), source.random);
  }
  const current = parseMasterKey((await readKeyFile(next)) ?? '');
  const previous = (source.previous ?? []).map(parseMasterKey);
  return {
    keys: { current, others: [old, ...previous] },
    finish: async () => {
      await rename(next, source.file);
      await syncFolder(dirname(source.file));
    },
  };
}

/** Parses 64 hexadecimal digits or base64 of 32 bytes; throws on anything else. */
export function parseMasterKey(text: string): KeyObject {
  const trimmed = text.trim();
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (bytes.length !== KEY_BYTES) throw keyErrors.MASTER_KEY_INVALID({ details: { reason: 'is not 32 bytes long' } });
  return createSecretKey(bytes);
}

function nextFile(file: string): string {
  return `${file}.next`;
}

async function readKeyFile(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw keyErrors.MASTER_KEY_INVALID({
        details: { reason: `file ${file} can be read by others; chmod it to 0600` },
      });
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null; // a system error's code
    throw error;
  }
}

/** Writes atomically and never overwrites a key that another process created meanwhile. */
async function writeKeyFile(file: string, text: string, random: (size: number) => Buffer): Promise<void> {
  const draft = `${file}.${random(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error; // as above
  } finally {
    await unlink(draft);
  }
  await syncFolder(dirname(file));
}
