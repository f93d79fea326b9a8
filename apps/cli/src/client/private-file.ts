import { randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '@svc/runtime';

const OWNER_ONLY = 0o600;

/** Returns a file's text, or null if it does not exist. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Replaces a file atomically, readable by its owner only. Follows a symbolic link and replaces its target. Pass
 * `durable: false` for data that may be lost in a power failure.
 */
export async function writePrivateFile(path: string, text: string, { durable = true } = {}): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  const mode = (await stat(target).catch(() => null))?.mode ?? OWNER_ONLY;
  await replaceFile(target, text, { mode: mode & OWNER_ONLY, draft, durable });
}
