import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Mode, temporary file and durability of a replacement. */
export interface ReplaceFileOptions {
  /** Mode of the new file, whatever the umask. Defaults to 0600. */
  mode?: number;
  /**
   * The temporary file, in the same folder. Defaults to `<path>.new`, which the next call overwrites after a crash.
   * Needs a unique name if several writers may replace the file at once.
   */
  draft?: string;
  /** Defaults to true. False for content that may be lost in a power failure. */
  durable?: boolean;
}

/**
 * Replaces a file atomically; on disk when it resolves. A crash leaves the old content or the new, and an error leaves
 * the old. Large content is written by a function instead.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | ((file: FileHandle) => Promise<void>),
  { mode = 0o600, draft = `${path}.new`, durable = true }: ReplaceFileOptions = {},
): Promise<void> {
  try {
    const file = await open(draft, 'w', mode);
    try {
      await file.chmod(mode); // before the first byte: a draft left by a crash keeps its mode
      await (typeof content === 'function' ? content(file) : file.writeFile(content));
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }); // a partial copy would keep a full disk full
    throw error;
  }
  if (durable) await syncFolder(dirname(path));
}

/** Makes new, renamed and removed entries of a folder durable: until then, a power failure may undo them. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
