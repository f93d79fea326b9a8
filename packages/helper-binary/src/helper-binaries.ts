import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { underLock } from './build-lock.ts';
import { formatChecksums, hashFile, hashSources, readChecksums } from './checksums.ts';
import { ARCHITECTURES, buildHelper, PROGRAM_TITLES, type NativeProgram } from './go-build.ts';
import { ensureGo } from './go-toolchain.ts';

/** A helper whose bytes were verified. */
export interface HelperBinary {
  readonly file: string;
  readonly sha256: string;
}

/**
 * Provides a program for an architecture, as Node names it; the helper by default. Verified at each call, built at the first
 * one.
 */
export type HelperBinaries = (
  architecture: string,
  signal?: AbortSignal,
  program?: NativeProgram,
) => Promise<HelperBinary>;

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

/** Keeps the binaries in `.cache/helper/` and `.cache/bucket-mount/`, in a folder for each state of the sources. */
export function createHelperBinaries(options: HelperOptions): HelperBinaries {
  return async (architecture, signal, program = 'sandbox-agent') => {
    const sourceFolder = join(options.root, 'native', program);
    const builds = buildsFolder(options.root, program);
    const title = PROGRAM_TITLES[program];
    const name = binaryName(program, architecture);
    const recorded = await readChecksums(sourceFolder);
    const installed = await findInstalled(join(options.root, 'helper', name), recorded.binaries.get(name), title);
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
        `building the ${title} for ${name.split('/')[0]}, which takes a moment; later starts use this build`,
      );
      await using work = await workFolder(builds);
      const built = join(work.path, program);
      const sha256 = await buildFor(options, program, architecture, built, signal);
      if (expected !== undefined && sha256 !== expected) throw new Error(mismatch(program, name, sha256, expected));
      await writeFile(`${file}.sha256`, sha256);
      await rename(built, file);
      await removeOld(builds);
      return { file, sha256 };
    };
    const onWait = (): void => options.progress(`waiting for another process that builds the ${title}`);
    return underLock(join(builds, 'lock'), build, { onWait, signal });
  };
}

/**
 * Builds a program for every architecture and returns the new content of `SHA256SUMS`. `write` also records it, after a
 * change of the sources.
 */
export async function buildAndRecord(
  options: HelperOptions & { readonly write: boolean; readonly program?: NativeProgram },
): Promise<string> {
  const { program = 'sandbox-agent' } = options;
  const sourceFolder = join(options.root, 'native', program);
  const builds = buildsFolder(options.root, program);
  await mkdir(builds, { recursive: true });
  await using work = await workFolder(builds);
  const binaries = new Map<string, string>();
  for (const architecture of ARCHITECTURES.keys()) {
    options.progress(`building the ${PROGRAM_TITLES[program]} for linux-${architecture}`);
    const output = join(work.path, architecture);
    binaries.set(binaryName(program, architecture), await buildFor(options, program, architecture, output));
  }
  const content = formatChecksums({ sources: await hashSources(sourceFolder), binaries });
  if (options.write) await writeFile(join(sourceFolder, 'SHA256SUMS'), content);
  return content;
}

/** An installed svc has the helper itself, and neither its sources nor Go. Returns null in a checkout. */
async function findInstalled(file: string, expected: string | undefined, title: string): Promise<HelperBinary | null> {
  const sha256 = await hashFile(file);
  if (sha256 === null) return null;
  if (sha256 !== expected) throw new Error(`${file} is not the ${title} of this version; install svc again`);
  return { file, sha256 };
}

function binaryName(program: NativeProgram, architecture: string): string {
  if (!ARCHITECTURES.has(architecture)) throw new Error(`there is no helper for ${architecture}`);
  return `linux-${architecture}/${program}`;
}

function buildsFolder(root: string, program: NativeProgram): string {
  return join(root, '.cache', program === 'sandbox-agent' ? 'helper' : program);
}

/** Returns the SHA-256 of the result. */
async function buildFor(
  options: HelperOptions,
  program: NativeProgram,
  architecture: string,
  output: string,
  signal?: AbortSignal,
): Promise<string> {
  const sourceFolder = join(options.root, 'native', program);
  const cacheFolder = join(options.root, '.cache');
  const { environment } = options;
  const goFolder = await ensureGo({ ...options, signal });
  await buildHelper({ program, sourceFolder, architecture, output, goFolder, cacheFolder, environment, signal });
  await chmod(output, 0o755);
  return (await hashFile(output)) ?? '';
}

function mismatch(program: NativeProgram, name: string, sha256: string, expected: string): string {
  return (
    `the ${PROGRAM_TITLES[program]} that was built (${name}, sha256 ${sha256}) is not the one that native/${program}/SHA256SUMS ` +
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
