import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

const MiB = 1024 * 1024;

/** Names that clients escape differently, and sizes around the limits of inline storage, chunks and parts. */
const FILES: readonly (readonly [string, number])[] = [
  ['empty', 0],
  ['one byte', 1],
  ['inline/below.bin', 64 * 1024 - 1],
  ['inline/border.bin', 64 * 1024],
  ['inline/above.bin', 64 * 1024 + 1],
  ['names/ä ö/ü.txt', 100],
  ['names/plus+and&amp;.txt', 101],
  ['names/100%25 sure', 102],
  ["names/quote'd #1 (copy) [2].txt", 103],
  ['names/日本語/☃ 😀.txt', 104],
  ['parts/two parts.bin', 9 * MiB + 7],
  ['parts/many parts.bin', 33 * MiB + 1],
];

/** Relative path -> SHA-256 of the content. */
export type Tree = Readonly<Record<string, string>>;

/** Writes the files with random content and returns the tree. */
export async function makeTree(folder: string): Promise<Tree> {
  for (const [name, sizeBytes] of FILES) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, randomBytes(sizeBytes));
  }
  return readTree(folder);
}

export async function readTree(folder: string): Promise<Tree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const tree: Record<string, string> = {};
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    tree[relative(folder, path)] = await digestOf(path);
  }
  return tree;
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export function digestOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
