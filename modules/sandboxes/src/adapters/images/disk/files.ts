import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@svc/runtime';
import { isTokenAlive, ownToken } from './process-token.ts';

/** The text of a file; null if it does not exist. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Names in a folder; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Writes a file atomically. Several processes may write it at once. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await replaceFile(path, text, { draft: `${path}.${ownToken()}.${randomBytes(6).toString('hex')}.new` });
}

/** Removes temporary files of processes that ended while writing to this folder. */
export async function sweepUnfinished(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const writer = /\.(\d+\.\d+)\.[0-9a-f]+\.new$/.exec(name)?.[1];
    if (writer !== undefined && !isTokenAlive(writer)) await rm(join(folder, name), { force: true });
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
