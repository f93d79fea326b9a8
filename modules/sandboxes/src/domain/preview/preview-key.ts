import { createSecretKey, type KeyObject } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@svc/runtime';

const KEY_BYTES = 32;

/** Loads the key that signs links, creating it on first use. Stored in the folder (mode 0600), written atomically. */
export async function loadPreviewKey(folder: string, randomBytes: (sizeBytes: number) => Buffer): Promise<KeyObject> {
  const file = join(folder, 'preview.key');
  const kept = await readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept !== null) {
    if (kept.length !== KEY_BYTES) throw new Error('preview.key is damaged; delete it to make a new one');
    return createSecretKey(kept);
  }
  const made = randomBytes(KEY_BYTES);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(file, made);
  return createSecretKey(made);
}
