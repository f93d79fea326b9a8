import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { hashSources } from './build/source-hash.ts';

export interface ConsoleBuildOptions {
  /** The project's root folder. */
  root: string;
  /** The project's cache folder; builds are kept in `console/<hash>` below it. */
  cacheDir: string;
  /** Called once if a build is necessary; it takes some seconds. */
  onBuild?: () => void;
  /** Aborts the build; the promise rejects, and no partial build remains under the final name. */
  signal?: AbortSignal;
}

/** Older builds to keep, since a running platform may still serve one of them. */
const KEPT_BUILDS = 4;
/** No build takes this long; an older staging folder is abandoned. */
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * Returns the folder of the built console; builds it first if its sources changed. The folder appears atomically, so
 * two concurrent builds are safe. Throws with the builder's output if the build fails.
 */
export async function ensureConsoleBuilt(options: ConsoleBuildOptions): Promise<string> {
  const builds = join(options.cacheDir, 'console');
  const folder = join(builds, hashSources(options.root));
  if (existsSync(folder)) return folder;
  options.onBuild?.();
  await mkdir(builds, { recursive: true });
  const staging = await mkdtemp(join(builds, 'staging-'));
  try {
    await runVite(join(options.root, 'apps/console'), staging, options.signal);
    await chmod(staging, 0o755); // mkdtemp makes it private, but the platform may run as another user
    await moveIntoPlace(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  await removeOldBuilds(builds, folder);
  return folder;
}

/** Runs in a separate process, whose memory is freed at its end. */
async function runVite(consoleFolder: string, outDir: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const child = spawn(
    process.execPath,
    [vite, 'build', consoleFolder, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'],
    {
      cwd: consoleFolder,
      env: { NODE_ENV: 'production' }, // not the caller's environment, so that equal sources give equal files
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    },
  );
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = `${output}${chunk.toString('utf8')}`.slice(-8192);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`the console does not build:\n${output.trim()}`);
}

async function moveIntoPlace(staging: string, folder: string): Promise<void> {
  try {
    await rename(staging, folder);
  } catch (error) {
    // Another process built the same sources meanwhile; use its folder.
    if (!existsSync(folder)) throw error;
  }
}

const isStaging = ({ name }: { name: string }): boolean => name.startsWith('staging-');

/** Removes all but the newest builds, and the remains of killed ones. */
async function removeOldBuilds(builds: string, current: string): Promise<void> {
  const now = new Date();
  await utimes(current, now, now);
  const names = await readdir(builds);
  const folders = await Promise.all(
    names.map(async (name) => ({
      name,
      path: join(builds, name),
      changedMs: (await stat(join(builds, name))).mtimeMs,
    })),
  );
  const abandoned = folders.filter((folder) => isStaging(folder) && now.getTime() - folder.changedMs > ABANDONED_MS);
  const old = folders
    .filter((folder) => !isStaging(folder))
    .toSorted((a, b) => b.changedMs - a.changedMs)
    .slice(KEPT_BUILDS);
  await Promise.all([...abandoned, ...old].map(({ path }) => rm(path, { recursive: true, force: true })));
}
