import { createSecretKey, type KeyObject } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { keyErrors } from './errors.ts';

const KEY_BYTES = 32;

export interface MasterKeySource {
  /** From the configuration: 64 hexadecimal digits or base64 of 32 bytes. It takes precedence over the file. */
  configured?: string | undefined;
  /** From the configuration: keys from before, which open and never wrap. */
  previous?: readonly string[] | undefined;
  /** Made with mode 0600 when it is not there. */
  file: string;
  random: (size: number) => Buffer;
}

export interface MasterKeys {
  current: KeyObject;
  /** Open what they wrapped, and wrap nothing. */
  others: readonly KeyObject[];
}

/** The key that wraps all others. A key file that others can read is refused. */
export async function loadMasterKeys(source: MasterKeySource): Promise<MasterKeys> {
  const previous = (source.previous ?? []).map(parseMasterKey);
  if (source.configured !== undefined) return { current: parseMasterKey(source.configured), others: previous };
  const existing = await readKeyFile(source.file);
  if (existing === null) await writeKeyFile(source.file, source.random(KEY_BYTES).toString('hex'), source.random);
  const current = parseMasterKey(existing ?? (await readKeyFile(source.file)) ?? '');
  const next = await readKeyFile(nextFile(source.file));
  return { current, others: [...previous, ...(next === null ? [] : [parseMasterKey(next)])] };
}

export interface MasterKeyChange {
  /** The new key is current, the old one still opens. */
  keys: MasterKeys;
  /** The old key goes. Only after everything that it wrapped is wrapped anew. */
  finish(): Promise<void>;
}

/**
 * Begins a change of the key in the file, or goes on with one that was cut off: the new key lies beside the old one until
 * `finish`, and every process reads both meanwhile. A key from the configuration is changed there, so that nothing is
 * written: `MASTER_KEY_CONFIGURED` when no previous key is configured beside it.
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

/** Whole or not at all, and never over a key that another process made meanwhile. */
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
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error; // likewise
  } finally {
    await unlink(draft);
  }
  await syncFolder(dirname(file));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
