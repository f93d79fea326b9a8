import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from '@svc/testing';
import { PROJECT_ROOT } from '../system/running-platform.ts';

/** The version before this one, as far as the schema goes. */
export interface PreviousVersion {
  readonly commit: string;
  /** Names of the migrations of this version that it does not know. */
  readonly unknown: readonly string[];
}

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Commits that changed migrations. The newest two suffice, unless branches with migrations were merged. */
const MAX_COMMITS = 30;

/**
 * Finds the newest commit of the history whose migrations are the beginning of today's. Returns the reason if there is
 * none.
 */
export async function findPreviousVersion(): Promise<PreviousVersion | string> {
  const missing = 'needs the history of the repository';
  if (findCommand('git') === null) return `${missing}, and git to read it`;
  if (!existsSync(join(PROJECT_ROOT, '.git'))) return `${missing}, which an archive does not have`;
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') return `${missing}; run git fetch --unshallow`;
  const here = readdirSync(join(PROJECT_ROOT, 'migrations')).filter(isMigration).toSorted();
  const changes = await git('log', '--format=%H %P', `--max-count=${MAX_COMMITS}`, '--', 'migrations');
  const parents = changes.split('\n').map((line) => line.split(' ')[1]);
  for (const commit of ['HEAD', ...parents]) {
    if (commit === undefined) continue;
    const names = (await git('ls-tree', '--name-only', commit, 'migrations/'))
      .split('\n')
      .map((path) => basename(path));
    const then = names.filter(isMigration).toSorted();
    const isBeginning = then.length > 0 && then.every((name, index) => here[index] === name);
    if (!isBeginning || then.length === here.length) continue;
    const unknown = here.slice(then.length).map((name) => basename(name, '.ts'));
    return { commit: await git('rev-parse', commit), unknown };
  }
  return `${missing}, with a commit before its newest migration`;
}

/** Unpacks a version into an empty folder, so that its `./svc platform` runs there. */
export async function unpackVersion({ commit }: PreviousVersion, folder: string): Promise<void> {
  const archive = `${folder}.tar`;
  await git('archive', '--format=tar', `--output=${archive}`, commit);
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xf', archive, '-C', folder]);
  await shareCache(folder);
  // As in an installed svc: the console counts as built. These tests use only the API.
  await mkdir(join(folder, 'console'));
  await writeFile(join(folder, 'console', 'index.html'), '<!doctype html><title>svc</title>');
  await writeFile(join(folder, 'console', 'console.json'), JSON.stringify({ routes: [] }));
  if (await hasSameDependencies(folder)) await linkDependencies(folder);
  else await run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder });
  await copyFile(join(folder, 'package-lock.json'), join(folder, 'node_modules', '.svc-lock'));
}

/** Node.js, the helpers of sandboxes and images are found by version or hash. */
async function shareCache(folder: string): Promise<void> {
  const cache = join(folder, '.cache');
  await mkdir(cache);
  for (const name of globSync('{node-*,go*,helper,sandbox-images}', { cwd: join(PROJECT_ROOT, '.cache') })) {
    await symlink(join(PROJECT_ROOT, '.cache', name), join(cache, name));
  }
}

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
}

async function readLock(root: string): Promise<[string, LockedPackage][]> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> }; // npm's lock file, version 3
  return Object.entries(packages);
}

/** Whether today's installation has every package that the version runs with. */
async function hasSameDependencies(folder: string): Promise<boolean> {
  const installed = new Map(await readLock(PROJECT_ROOT));
  const wanted = (await readLock(folder)).filter(
    ([path, { link, dev }]) => path.startsWith('node_modules/') && link !== true && dev !== true,
  );
  return wanted.every(([path, { integrity }]) => installed.get(path)?.integrity === integrity);
}

/** Links today's packages of others, and the version's own packages. */
async function linkDependencies(folder: string): Promise<void> {
  const installed = join(PROJECT_ROOT, 'node_modules');
  const target = join(folder, 'node_modules');
  await mkdir(target);
  for (const name of readdirSync(installed).filter((each) => each !== '@svc' && each !== '.svc-lock')) {
    await symlink(join(installed, name), join(target, name));
  }
  const own = globSync('{packages,modules,apps,sdks}/*/package.json', { cwd: folder });
  for (const path of [...own, 'migrations/package.json', 'test/package.json']) {
    const { name } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as { name: string }; // a package of ours
    await mkdir(dirname(join(target, name)), { recursive: true });
    await symlink(join(folder, dirname(path)), join(target, name));
  }
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: PROJECT_ROOT, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout.trim();
}

function isMigration(name: string): boolean {
  return /^\d{4}-.*\.ts$/.test(name);
}
