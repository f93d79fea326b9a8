import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';

const MAX_NAME_BYTES = 255;

/**
 * Splits a key into path segments, or returns why it is refused. Keys are arbitrary text: `..`, a leading slash or an
 * empty segment would lead out of the folder or to another file, so they are refused rather than rewritten.
 */
export function segmentsOfKey(key: string): string[] | { refused: string } {
  if (key === '') return { refused: 'the name is empty' };
  if (key.includes('\0')) return { refused: 'it contains a null character' };
  const segments = (key.endsWith('/') ? key.slice(0, -1) : key).split('/');
  for (const segment of segments) {
    if (segment === '') return { refused: 'a path segment is empty' };
    if (segment === '.' || segment === '..') return { refused: `${segment} would lead to another folder` };
    if (Buffer.byteLength(segment) > MAX_NAME_BYTES)
      return { refused: `a name is longer than ${MAX_NAME_BYTES} bytes` };
  }
  return segments;
}

/** Creates folders below a root and never follows a link out of it, not even an existing one. */
export class LocalTarget {
  readonly root: string;
  readonly #made = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.root = root;
  }

  /** Returns the path of a key after creating its folders. */
  async prepare(key: string): Promise<string> {
    const segments = segmentsOfKey(key);
    if ('refused' in segments) {
      throw new CommandFailure(segments.refused, { hint: 'svc object cp of this one key to a file that you name' });
    }
    let folder = this.root;
    await this.#make(folder, true);
    for (const segment of segments.slice(0, -1)) {
      folder = join(folder, segment);
      await this.#make(folder, false);
    }
    return join(folder, segments.at(-1) ?? '');
  }

  /** Bounded by the number of folders with files in one run. */
  #make(folder: string, isRoot: boolean): Promise<void> {
    const known = this.#made.get(folder);
    if (known !== undefined) return known;
    const making = isRoot ? mkdir(folder, { recursive: true }).then(() => undefined) : makeOne(folder);
    this.#made.set(folder, making);
    return making;
  }
}

async function makeOne(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  const found = await lstat(folder);
  if (found.isDirectory()) return;
  const what = found.isSymbolicLink() ? 'a link, which could lead out of the target' : 'a file, and a folder is needed';
  throw new CommandFailure(`${folder} is ${what}`);
}
