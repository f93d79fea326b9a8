import { isUtf8 } from 'node:buffer';
import { statSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SyncEntry } from './sync-plan.ts';

export interface LocalFile extends SyncEntry {
  path: string;
}

/** Names of unfinished downloads. */
export const UNFINISHED = /^\.svc-[0-9a-f]{16}\.part$/;

export interface WalkOptions {
  signal: AbortSignal;
  /** Called for skipped files, with the reason. */
  onSkipped: (path: string, reason: string) => void;
}

/** Yields all files below a folder in byte order of their names with slashes, like a bucket's listing. */
export async function* walkFiles(root: string, options: WalkOptions): AsyncGenerator<LocalFile, void> {
  yield* walk(root, '', options);
}

async function* walk(folder: string, prefix: string, options: WalkOptions): AsyncGenerator<LocalFile, void> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  for (const entry of entries.sort((left, right) => Buffer.compare(sortKey(left), sortKey(right)))) {
    options.signal.throwIfAborted();
    const text = entry.name.toString();
    const path = join(folder, text);
    if (!isUtf8(entry.name)) options.onSkipped(path, 'its name is not UTF-8');
    else if (entry.isDirectory()) yield* walk(path, `${prefix}${text}/`, options);
    else if (entry.isSymbolicLink()) options.onSkipped(path, 'it is a link');
    else if (!entry.isFile()) options.onSkipped(path, 'it is not a regular file');
    else if (!UNFINISHED.test(text)) {
      const found = readStat(path);
      if (found === null) options.onSkipped(path, 'it is gone');
      else yield { name: `${prefix}${text}`, path, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
    }
  }
}

/** As in `small-files.ts`: the thread pool costs more than the call. */
function readStat(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null; // removed meanwhile, or not accessible
  }
}

/** A folder sorts like its contents: with its slash. */
function sortKey(entry: Dirent<Buffer>): Buffer {
  return entry.isDirectory() ? Buffer.concat([entry.name, Buffer.from('/')]) : entry.name;
}
