import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whole or not at all, and on disk when it resolves: the old file stays until the new one is there. Mode 0600. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true }); // half a copy would keep a full disk full
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** After a rename: until the folder is on disk, a power failure may bring the old name back. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
