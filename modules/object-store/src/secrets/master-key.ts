import { createSecretKey, type KeyObject } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { storeErrors } from '../errors.ts';

const KEY_BYTES = 32;

export interface MasterKeySource {
  /** From the configuration: 64 hexadecimal digits or base64 of 32 bytes. It goes before the file. */
  configured?: string | undefined;
  /** Made with mode 0600 when it is not there. */
  file: string;
  random: (size: number) => Buffer;
}

/** The key that all stored secrets are sealed under. A key file that others can read is refused. */
export async function loadMasterKey(source: MasterKeySource): Promise<KeyObject> {
  if (source.configured !== undefined) return parseMasterKey(source.configured);
  const existing = await readKeyFile(source.file);
  if (existing !== null) return parseMasterKey(existing);
  await writeKeyFile(source.file, source.random(KEY_BYTES).toString('hex'), source.random);
  return parseMasterKey((await readKeyFile(source.file)) ?? '');
}

export function parseMasterKey(text: string): KeyObject {
  const trimmed = text.trim();
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (bytes.length !== KEY_BYTES) throw storeErrors.MasterKeyInvalid({ details: { reason: 'is not 32 bytes long' } });
  return createSecretKey(bytes);
}

async function readKeyFile(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw storeErrors.MasterKeyInvalid({
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
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
