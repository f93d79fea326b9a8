import { copyFile, mkdir, open, readdir, rename } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from '@svc/runtime';

const FOLDER_MODE = 0o700;

export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/** Flushes a file's content to stable storage. */
export async function syncFile(path: string): Promise<void> {
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
  await syncFile(draft);
  await rename(draft, to);
  await syncFolder(dirname(to));
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
