import { createHash, randomBytes } from 'node:crypto';
import { lstat, open, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, matchesGlob, posix } from 'node:path';
import { writeTar, type TarEntry } from '@svc/archive';
import { CommandFailure } from '../../client/command-failure.ts';

const MAX_ENTRIES = 100_000;

/** Patterns of a `.dockerignore`, in order; the last one that matches decides. */
export interface IgnoreRule {
  readonly pattern: string;
  readonly isKept: boolean;
}

/** The files that one COPY takes, as an archive in the temporary folder. */
export interface ContextArchive {
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  remove(): Promise<void>;
}

/** Reads `.dockerignore` of a folder; without one, nothing is ignored. */
export async function readIgnoreRules(context: string): Promise<readonly IgnoreRule[]> {
  const text = await readFile(join(context, '.dockerignore'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split(/\r?\n/).flatMap((line) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const isKept = trimmed.startsWith('!');
    const pattern = posix.normalize(trimmed.slice(isKept ? 1 : 0).replace(/^\/+/, '')).replace(/\/$/, '');
    return [{ pattern, isKept }];
  });
}

/** Whether rules leave a path out: it, or a folder that it is in. */
export function isIgnored(path: string, rules: readonly IgnoreRule[]): boolean {
  const parts = path.split('/');
  const prefixes = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
  let ignored = false;
  for (const { pattern, isKept } of rules) {
    if (prefixes.some((prefix) => matchesGlob(prefix, pattern))) ignored = !isKept;
  }
  return ignored;
}

/**
 * Packs what the sources of a COPY name. The same files make the same archive, whatever their times and owners. Throws for
 * a source that names nothing.
 */
export async function packSources(
  context: string,
  sources: readonly string[],
  rules: readonly IgnoreRule[],
): Promise<ContextArchive> {
  const entries = new Map<string, TarEntry>();
  for (const source of sources) {
    const paths = await match(context, source, rules);
    if (paths.length === 0) throw new CommandFailure(`COPY ${source}: no such file in ${context}`);
    for (const path of paths) await collect(context, path, rules, entries);
  }
  const sorted = [...entries.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return write(sorted);
}

async function write(entries: readonly TarEntry[]): Promise<ContextArchive> {
  const file = join(tmpdir(), `svc-template-${randomBytes(8).toString('hex')}.tar`);
  const remove = (): Promise<void> => rm(file, { force: true });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      for await (const chunk of writeTar(entries)) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        await handle.writeFile(chunk);
      }
    } finally {
      await handle.close();
    }
    return { file, sha256: hash.digest('hex'), sizeBytes, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Paths in the context; wildcards match inside of one part. */
async function match(context: string, source: string, rules: readonly IgnoreRule[]): Promise<string[]> {
  let paths = [''];
  for (const part of source.split('/').filter((each) => each !== '' && each !== '.')) {
    const next = await Promise.all(
      paths.map(async (path) => {
        const names = /[*?[]/.test(part) ? await namesIn(join(context, path)) : [part];
        const found = names.filter((name) => name === part || matchesGlob(name, part) || isHiddenMatch(name, part));
        return found.map((name) => posix.join(path, name));
      }),
    );
    paths = next.flat();
  }
  const there = await Promise.all(paths.map(async (path) => ((await isThere(join(context, path))) ? [path] : [])));
  return there.flat().filter((path) => path === '' || !isIgnored(path, rules) || rules.some(({ isKept }) => isKept));
}

/** In a Dockerfile, `*` matches names that begin with a dot, too. */
function isHiddenMatch(name: string, part: string): boolean {
  return name.startsWith('.') && part.startsWith('*') && matchesGlob(`x${name}`, part);
}

async function collect(
  context: string,
  path: string,
  rules: readonly IgnoreRule[],
  entries: Map<string, TarEntry>,
): Promise<void> {
  if (entries.size > MAX_ENTRIES) throw new CommandFailure(`the context has more than ${MAX_ENTRIES} files`);
  const file = join(context, path);
  const found = await lstat(file);
  if (found.isDirectory()) {
    // A later rule may keep something inside of an ignored folder.
    if (path !== '' && !isIgnored(path, rules)) entries.set(path, { type: 'folder', path, mode: found.mode & 0o777 });
    for (const name of await namesIn(file)) await collect(context, posix.join(path, name), rules, entries);
    return;
  }
  if (isIgnored(path, rules)) return;
  if (found.isSymbolicLink()) entries.set(path, { type: 'link', path, target: await readlink(file) });
  else if (found.isFile()) {
    entries.set(path, { type: 'stored', path, file, sizeBytes: found.size, mode: found.mode & 0o777 });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const isFolder = (await stat(folder)).isDirectory();
  return isFolder ? (await readdir(folder)).toSorted() : [];
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
