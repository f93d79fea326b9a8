import { posix } from 'node:path';
import { isAppError } from '@svc/errors';
import type { SandboxFiles } from '../files/file-service.ts';
import { BuildFault } from './build-sandbox.ts';
import { parseWildcard } from './wildcard.ts';

/** Where files wait inside of the sandbox until they are in their place. No image has it. */
export const STAGING = '/.svc-template-files';
const MAX_MATCHES = 10_000;
const PAGE_SIZE = 1000;

/**
 * Puts sources in their place like COPY: the contents of folders, and files into a folder if the destination is one, ends
 * with a slash or takes several. Arguments: staging folder, destination, owner, mode, sources.
 */
export const PLACE_SCRIPT = `set -eu
staging=$1 dest=$2 owner=$3 mode=$4
shift 4
case $dest in */) folder=1 ;; *) folder=0 ;; esac
if [ $# -gt 1 ] || [ -d "$dest" ]; then folder=1; fi
new=0
[ -e "$dest" ] || new=1
for source do
  if [ -n "$owner" ]; then chown -Rh "$owner" "$source"; fi
  if [ -n "$mode" ]; then chmod -R "$mode" "$source"; fi
  if [ -d "$source" ] && [ ! -L "$source" ]; then
    folder=1
    mkdir -p "$dest"
    cp -a "$source/." "$dest/"
  elif [ "$folder" = 1 ]; then
    mkdir -p "$dest"
    cp -a "$source" "$dest/"
  else
    mkdir -p "$(dirname "$dest")"
    cp -a "$source" "$dest"
  fi
done
if [ "$new" = 1 ] && [ -n "$owner" ] && [ "$folder" = 1 ]; then chown "$owner" "$dest"; fi
rm -rf "$staging"
`;

/** Unpacks an uploaded archive into the staging folder. */
export async function stageArchive(files: SandboxFiles, archive: AsyncIterable<Buffer>): Promise<void> {
  const writing = files.unpack(STAGING);
  try {
    for await (const chunk of archive) await writing.write(chunk);
    await writing.finish();
  } catch (error) {
    writing.abort();
    throw error;
  }
}

/** Copies sources of another sandbox into the staging folder, at the same paths. Returns those paths, without a slash. */
export async function stageFrom(
  from: SandboxFiles,
  to: SandboxFiles,
  sources: readonly string[],
): Promise<readonly string[]> {
  const found = await matchSources(from, '/', sources);
  for (const path of found) {
    const target = posix.join(STAGING, path);
    await ((await isFolder(from, `/${path}`))
      ? copyFolder(from, to, `/${path}`, target)
      : copyFile(from, to, `/${path}`, target));
  }
  return found;
}

async function isFolder(files: SandboxFiles, path: string): Promise<boolean> {
  return (await files.stat(path)).type === 'dir';
}

async function copyFolder(from: SandboxFiles, to: SandboxFiles, path: string, target: string): Promise<void> {
  await to.makeDirectory(target, { parents: true });
  await pump(await from.archive(path), to.unpack(target));
}

async function copyFile(from: SandboxFiles, to: SandboxFiles, path: string, target: string): Promise<void> {
  const { mode } = await from.stat(path);
  await pump(await from.read(path, {}), to.write(target, { parents: true, append: false, mode }));
}

/** Ends both sides, whatever happens. */
async function pump(
  reading: { chunks(): AsyncIterable<Buffer>; close(): void },
  writing: { write(chunk: Buffer): Promise<void>; finish(): Promise<unknown>; abort(): void },
): Promise<void> {
  try {
    for await (const chunk of reading.chunks()) await writing.write(Buffer.from(chunk)); // valid until the next one
    await writing.finish();
  } catch (error) {
    writing.abort();
    throw error;
  } finally {
    reading.close();
  }
}

/**
 * Paths that the sources name below a folder, without a slash at the beginning, in byte order for each source. Wildcards
 * match inside of one part of a path, like those of a Dockerfile. Throws BuildFault for a source that names nothing.
 */
export async function matchSources(
  files: SandboxFiles,
  root: string,
  sources: readonly string[],
): Promise<readonly string[]> {
  const all: string[] = [];
  for (const source of sources) {
    let paths = [''];
    for (const part of source.split('/').filter((each) => each !== '' && each !== '.')) {
      if (part === '..') throw new BuildFault(`${source}: .. is not allowed`);
      const next: string[] = [];
      for (const path of paths) {
        next.push(...(await step(files, root, path, part)));
        if (next.length > MAX_MATCHES) throw new BuildFault(`${source} names more than ${MAX_MATCHES} files`);
      }
      paths = next;
    }
    if (paths.length === 0) throw new BuildFault(`${source}: no such file`);
    all.push(...paths);
  }
  return all;
}

async function step(files: SandboxFiles, root: string, path: string, part: string): Promise<string[]> {
  if (!/[*?[]/.test(part)) {
    const next = posix.join(path, part);
    return (await isThere(files, posix.join(root, next))) ? [next] : [];
  }
  const isMatch = parseWildcard(part);
  const names = await namesIn(files, posix.join(root, path));
  return names.filter(isMatch).map((name) => posix.join(path, name));
}

async function namesIn(files: SandboxFiles, folder: string): Promise<string[]> {
  if (!(await files.isDirectory(folder))) return [];
  const names: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await files.list(folder, { cursor, limit: PAGE_SIZE });
    names.push(...page.entries.map(({ name }) => name));
    if (page.nextCursor === null || names.length > MAX_MATCHES) return names.toSorted();
    cursor = page.nextCursor;
  }
}

async function isThere(files: SandboxFiles, path: string): Promise<boolean> {
  try {
    await files.stat(path);
    return true;
  } catch (error) {
    if (isAppError(error) && (error.code === 'PATH_NOT_FOUND' || error.code === 'NOT_A_DIRECTORY')) return false;
    throw error;
  }
}

/** `user` means its own group as well; a number means the group of that number. */
export function ownerArgument(owner: string): string {
  if (owner.includes(':')) return owner;
  return /^\d+$/.test(owner) ? `${owner}:${owner}` : `${owner}:`;
}
