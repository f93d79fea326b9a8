import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Everything that affects the built files: the console, the SDK in it, and the versions of all libraries. */
const SOURCES = ['apps/console', 'sdks/typescript/src', 'package-lock.json'];
const IGNORED = /(^|\/)node_modules(\/|$)|\.test\.tsx?$|\.md$/;

/**
 * Hashes names and contents of the sources. Synchronous, since about 150 small files take about 10 ms and the caller
 * has nothing else to do.
 */
export function hashSources(root: string): string {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((source) => filesUnder(join(root, source)))) {
    const name = relative(root, file);
    if (IGNORED.test(name)) continue;
    const content = readFileSync(file);
    hash.update(`${name}\0${content.byteLength}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 20);
}

function filesUnder(path: string): string[] {
  if (path.endsWith('.json')) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(path, entry.name)) : [join(path, entry.name)]))
    .toSorted();
}
