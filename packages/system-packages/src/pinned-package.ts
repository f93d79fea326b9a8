import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** One line of a pins file, such as `.node-packages`. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and base64, as npm and its lock write it. */
  readonly integrity: string;
}

/** Where a pinned package goes. */
export interface FetchOptions {
  /** The pins file, for the message. */
  readonly pinsFile: string;
  /** Where the content goes. Its parent folder is created. */
  readonly folder: string;
  /** The part of the package to unpack, such as `bin/go`; defaults to all of it. */
  readonly member?: string;
  /** Defaults to that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Reads the package pinned for a system, named as in `uname -s`-`uname -m` (`Linux-x86_64`); null if there is none. */
export async function readPinnedPackage(pinsFile: string, system: string): Promise<PinnedPackage | null> {
  const lines = (await readFile(pinsFile, 'utf8')).split('\n').map((line) => line.split(' '));
  const [, name, version, integrity] = lines.find(([first]) => first === system) ?? [];
  if (name === undefined || version === undefined || integrity === undefined) return null;
  return { name, version, integrity };
}

/**
 * Fetches a package with npm, from whichever registry npm uses, and unpacks it once its hash is the pinned one. Of two
 * concurrent fetches, the second discards its copy.
 */
export async function fetchPinnedPackage(pinned: PinnedPackage, options: FetchOptions): Promise<void> {
  const { pinsFile, folder, member, signal } = options;
  const spec = `${pinned.name}@${pinned.version}`;
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(join(dirname(folder), 'fetch-'));
  const child = {
    cwd: work,
    ...(options.environment === undefined ? {} : { env: { ...options.environment } }),
    maxBuffer: MAX_OUTPUT_BYTES,
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    const archive = join(work, await pack(spec, child));
    const hash = createHash('sha512');
    await pipeline(createReadStream(archive), hash);
    const found = `sha512-${hash.digest('base64')}`;
    if (found !== pinned.integrity) {
      throw new Error(
        `${spec} is not the package that ${basename(pinsFile)} pins; nothing of it was unpacked. Its hash is ${found}`,
      );
    }
    const wanted = join('package', member ?? '');
    await run('tar', ['-xzf', archive, '-C', work, wanted.replace(/\/$/, '')], child);
    await rename(join(work, wanted), folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the archive's name in the working folder. */
async function pack(spec: string, options: Parameters<typeof run>[2]): Promise<string> {
  try {
    const { stdout } = await run('npm', ['pack', '--json', spec], { ...options, encoding: 'utf8' });
    const [packed] = JSON.parse(stdout) as [{ filename: string }]; // npm's documented output
    return packed.filename;
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string }; // of execFile
    const reason =
      code === 'ENOENT' ? 'npm is missing' : (stderr ?? String(error)).trim().split('\n').slice(-3).join(' ');
    throw new Error(`could not fetch ${spec}: ${reason}`, { cause: error });
  }
}
