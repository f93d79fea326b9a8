import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { underLock } from './build-lock.ts';
import { formatChecksums, hashFile, hashSources, readChecksums } from './checksums.ts';
import { ARCHITECTURES, buildHelper } from './go-build.ts';
import { ensureGo } from './go-toolchain.ts';

/** A helper whose bytes were verified. */
export interface HelperBinary {
  readonly file: string;
  readonly sha256: string;
}

/** Provides the helper for an architecture, as Node names it. Verified at each call, built at the first one. */
export type HelperBinaries = (architecture: string, signal?: AbortSignal) => Promise<HelperBinary>;

/** The checkout, and what building in it needs. */
export interface HelperOptions {
  /** The project's folder. */
  readonly root: string;
  /** Of this process: programs are found on its PATH, and Go and npm read their settings from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reports one line before something that takes a while. */
  readonly progress: (line: string) => void;
  /** Where Go may be, besides PATH; defaults to the folder of its own installation. */
  readonly goFolders?: readonly string[];
}

/** Changed sources leave one build each; this many stay. */
const KEPT_BUILDS = 4;

/** Keeps the binaries in `.cache/helper/`, in a folder for each state of the sources. */
export function createHelperBinaries(options: HelperOptions): HelperBinaries {
  const sourceFolder = join(options.root, 'native/sandbox-agent');
  const builds = join(options.root, '.cache/helper');
  return async (architecture, signal) => {
    const name = helperName(architecture);
    const recorded = await readChecksums(sourceFolder);
    const installed = await findInstalled(join(options.root, 'helper', name), recorded.binaries.get(name));
    if (installed !== null) return installed;
    const sources = await hashSources(sourceFolder);
    // Changed sources have no recorded checksum yet. Then the build counts that this project made of them.
    const expected = recorded.sources === sources ? recorded.binaries.get(name) : undefined;
    const file = join(builds, sources.slice(0, 16), name);
    const find = async (): Promise<HelperBinary | null> => {
      const sha256 = await hashFile(file);
      const wanted = expected ?? (await readFile(`${file}.sha256`, 'utf8').catch(() => ''));
      return sha256 !== null && sha256 === wanted ? { file, sha256 } : null;
    };
    const found = await find();
    if (found !== null) return found;
    await mkdir(dirname(file), { recursive: true });
    const build = async (): Promise<HelperBinary> => {
      const other = await find(); // built by another process meanwhile
      if (other !== null) return other;
      options.progress(
        `building the sandbox helper for ${name.split('/')[0]}, which takes a moment; later starts use this build`,
      );
      await using work = await workFolder(builds);
      const built = join(work.path, 'sandbox-agent');
      const sha256 = await buildFor(options, architecture, built, signal);
      if (expected !== undefined && sha256 !== expected) throw new Error(mismatch(name, sha256, expected));
      await writeFile(`${file}.sha256`, sha256);
      await rename(built, file);
      await removeOld(builds);
      return { file, sha256 };
    };
    const onWait = (): void => options.progress('waiting for another process that builds the sandbox helper');
    return underLock(join(builds, 'lock'), build, { onWait, signal });
  };
}

/**
 * Builds the helper for every architecture and returns the new content of `SHA256SUMS`. `write` also records it, after a
 * change of the sources.
 */
export async function buildAndRecord(options: HelperOptions & { readonly write: boolean }): Promise<string> {
  const sourceFolder = join(options.root, 'native/sandbox-agent');
  const builds = join(options.root, '.cache/helper');
  await mkdir(builds, { recursive: true });
  await using work = await workFolder(builds);
  const binaries = new Map<string, string>();
  for (const architecture of ARCHITECTURES.keys()) {
    options.progress(`building the sandbox helper for linux-${architecture}`);
    binaries.set(helperName(architecture), await buildFor(options, architecture, join(work.path, architecture)));
  }
  const content = formatChecksums({ sources: await hashSources(sourceFolder), binaries });
  if (options.write) await writeFile(join(sourceFolder, 'SHA256SUMS'), content);
  return content;
}

/** An installed svc has the helper itself, and neither its sources nor Go. Returns null in a checkout. */
async function findInstalled(file: string, expected: string | undefined): Promise<HelperBinary | null> {
  const sha256 = await hashFile(file);
  if (sha256 === null) return null;
  if (sha256 !== expected) throw new Error(`${file} is not the sandbox helper of this version; install svc again`);
  return { file, sha256 };
}

function helperName(architecture: string): string {
  if (!ARCHITECTURES.has(architecture)) throw new Error(`there is no helper for ${architecture}`);
  return `linux-${architecture}/sandbox-agent`;
}

/** Returns the SHA-256 of the result. */
async function buildFor(
  options: HelperOptions,
  architecture: string,
  output: string,
  signal?: AbortSignal,
): Promise<string> {
  const sourceFolder = join(options.root, 'native/sandbox-agent');
  const cacheFolder = join(options.root, '.cache');
  const { environment } = options;
  const goFolder = await ensureGo({ ...options, signal });
  await buildHelper({ sourceFolder, architecture, output, goFolder, cacheFolder, environment, signal });
  await chmod(output, 0o755);
  return (await hashFile(output)) ?? '';
}

function mismatch(name: string, sha256: string, expected: string): string {
  return (
    `the sandbox helper that was built (${name}, sha256 ${sha256}) is not the one that native/sandbox-agent/SHA256SUMS ` +
    `names (${expected}), and is not used. Its sources match, so the Go toolchain is not the pinned one: ` +
    'remove .cache/go-* and start again'
  );
}

async function workFolder(builds: string): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(builds, 'work-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Removes the oldest builds. */
async function removeOld(builds: string): Promise<void> {
  const names = (await readdir(builds)).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(builds, name))).mtimeMs })));
  const old = aged.toSorted((left, right) => right.at - left.at).slice(KEPT_BUILDS);
  for (const { name } of old) await rm(join(builds, name), { recursive: true, force: true });
}
