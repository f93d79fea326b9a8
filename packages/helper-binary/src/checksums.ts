import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BUILD_SETTINGS } from './go-build.ts';

/** What `SHA256SUMS` beside the sources records: a build of these sources has exactly these bytes. */
export interface Checksums {
  /** Of everything that the binaries are made of. */
  readonly sources: string;
  /** By name, such as `linux-x64/sandbox-agent`. */
  readonly binaries: ReadonlyMap<string, string>;
}

const FILE = 'SHA256SUMS';
const SOURCES = 'sources';
const SOURCE_NAMES = /(?<!_test)\.go$|\.s$|\.txt$|^go\.(mod|sum)$/;

/** Reads what is recorded; the sources beside it may have changed since. */
export async function readChecksums(sourceFolder: string): Promise<Checksums> {
  const lines = (await readFile(join(sourceFolder, FILE), 'utf8')).split('\n').filter((line) => line !== '');
  const sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const sources = sums.get(SOURCES) ?? '';
  sums.delete(SOURCES);
  return { sources, binaries: sums };
}

/** Writes in the format of sha256sum(1). */
export function formatChecksums({ sources, binaries }: Checksums): string {
  const lines = [[SOURCES, sources], ...[...binaries].toSorted(([left], [right]) => (left < right ? -1 : 1))];
  return lines.map(([name, sum]) => `${sum}  ${name}\n`).join('');
}

/** Hashes the names and contents of the sources, without their tests, and the settings of the build. */
export async function hashSources(sourceFolder: string): Promise<string> {
  const names = await readdir(sourceFolder, { recursive: true });
  const files = names.filter((name) => SOURCE_NAMES.test(basename(name)) && !name.includes('testdata/')).toSorted();
  const hash = createHash('sha256').update(JSON.stringify(BUILD_SETTINGS));
  for (const file of files) {
    const content = await readFile(join(sourceFolder, file));
    hash.update(`\n${file}\n${createHash('sha256').update(content).digest('hex')}`);
  }
  return hash.digest('hex');
}

/** Returns null for a file that does not exist. */
export async function hashFile(file: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // of readFile
    throw error;
  }
}
