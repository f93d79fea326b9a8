import { copyFile, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/** Flushes a file's content or a folder's entries to stable storage. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Copies a file atomically. */
export async function copyDurably(from: string, to: string): Promise<void> {
  const draft = `${to}.partial`;
  await copyFile(from, draft);
  await sync(draft);
  await rename(draft, to);
  await sync(dirname(to));
}

export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.partial`;
  await writeFile(draft, text, { mode: FILE_MODE, flush: true });
  await rename(draft, path);
  await sync(dirname(path));
}

/** Copies a folder of few small files recursively. A missing folder counts as empty. */
export async function copyFolder(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await makeFolder(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else if (entry.isFile()) await copyDurably(source, target);
  }
}
