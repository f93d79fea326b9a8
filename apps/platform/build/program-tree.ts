import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import type { TarEntry } from '@svc/archive';
import { integrityHex, npmPurl, type Architecture, type Component } from '@svc/packaging';

export interface ProgramTreeOptions {
  /** Root folder of the project, with installed dependencies. */
  root: string;
  architecture: Architecture;
  /** The built console. */
  consoleFolder: string;
  /** The sandbox helper of the architecture. */
  helperFile: string;
  /** The program that serves mounted buckets, of the architecture. */
  mountFile: string;
  /** Folder of the program in the image or package, relative to the root. */
  target: string;
}

export interface ProgramTree {
  entries: readonly TarEntry[];
  components: readonly Component[];
}

/** An entry of `package-lock.json`, version 3. */
interface LockedPackage {
  version?: string;
  /** The linked folder, for a package of this project. */
  resolved?: string;
  link?: boolean;
  integrity?: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

type Lock = Readonly<Record<string, LockedPackage>>;

/** The command, from which everything else is reached. */
const START = 'apps/cli';
/** Needed only to build svc itself, which an installed svc refuses to do, or native parts that are never built. */
const BUILD_ONLY: ReadonlySet<string> = new Set(['@svc/console', '@svc/packaging', 'cpu-features', 'nan', 'rolldown']);
const OWN_SOURCE = /\.(ts|mjs|json)$/;
const NOT_OWN_SOURCE = /\.(test|d)\.ts$|(^|\/)(test|testing|corpus|build|scripts|node_modules)(\/|$)/;
/** What Node loads from a package, and its license. Types, source maps and documentation stay out. */
const PACKAGE_FILE = /\.(js|cjs|mjs|json|node|wasm)$|(^|\/)(licen[cs]e|notice|copying)[^/]*$/i;
const NOT_PACKAGE_FILE = /(^|\/)(node_modules|test|tests|__tests__|benchmarks?|examples?|docs|\.github)(\/|$)/;
const PREBUILT = /(^|\/)prebuilds\/([^/]+)\//;
/** Preloaded by every start; run as a program, it strips the types of all sources. */
const STRIPPED_SOURCES = 'apps/cli/src/start/stripped-sources.mjs';
const STRIPPED_FOLDER = '.cache/stripped';
/** Files and folders that the platform reads at run time, besides its sources. */
const SHIPPED: readonly string[] = [
  'package.json',
  'LICENSE',
  'native/sandbox-agent/SHA256SUMS',
  'native/bucket-mount/SHA256SUMS',
  'deploy/helm/svc-agent',
  'deploy/kubernetes/svc-agent.yaml',
];

/**
 * The platform as it runs from a checkout, in the same folders, without anything that only tests and builds need: what
 * the tests run is what is delivered. It includes the sources without their types, which a checkout caches at its first
 * start. The lock file determines the packages, and their hashes in the components.
 */
export async function programTree({
  root,
  architecture,
  consoleFolder,
  helperFile,
  mountFile,
  target,
}: ProgramTreeOptions): Promise<ProgramTree> {
  const { packages: lock } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: Lock }; // npm's file
  const reached = reachablePackages(lock);
  const flags = ['--disable-warning=ExperimentalWarning'];
  await promisify(execFile)(process.execPath, [...flags, join(root, STRIPPED_SOURCES)]);
  const entries: TarEntry[] = [];
  const components: Component[] = [];
  for (const path of reached) {
    const locked = lock[path] ?? {};
    if (locked.link === true) entries.push(linkTo(path, locked.resolved ?? '', target));
    else if (!path.includes('node_modules/')) entries.push(...(await ownFiles(root, path, target)));
    else {
      entries.push(...(await packageFiles(root, path, architecture, target)));
      components.push(npmComponent(path, locked));
    }
  }
  for (const path of SHIPPED) entries.push(...(await filesBelow(root, path, target, () => true)));
  entries.push(...(await filesBelow(consoleFolder, '', posix.join(target, 'console'), () => true)));
  for (const [name, file] of [
    ['sandbox-agent', helperFile],
    ['bucket-mount', mountFile],
  ] as const) {
    const { size: sizeBytes } = await stat(file);
    const path = posix.join(target, 'helper', `linux-${architecture}`, name);
    entries.push({ type: 'stored', path, mode: 0o755, file, sizeBytes });
  }
  return { entries, components };
}

/** Paths in the lock file, from the command through every dependency that is not for development. */
export function reachablePackages(lock: Lock): string[] {
  const reached = new Set<string>();
  const open = [START];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const locked = lock[path] ?? {};
    if (locked.link === true) {
      open.push(locked.resolved ?? '');
      continue;
    }
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = locked;
    for (const name of Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies })) {
      if (BUILD_ONLY.has(name)) continue;
      const found = findPackage(lock, path, name);
      if (found !== null) open.push(found);
      else if (Object.hasOwn(dependencies, name)) throw new Error(`${path} needs ${name}, which the lock file lacks`);
    }
  }
  return [...reached].toSorted();
}

/** Searches the folder of a package and its parents, as Node does. */
function findPackage(lock: Lock, from: string, name: string): string | null {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = posix.join(base, 'node_modules', name);
    if (lock[path] !== undefined) return path;
    if (!base.includes('/node_modules/')) break;
  }
  const path = posix.join('node_modules', name);
  return lock[path] === undefined ? null : path;
}

function linkTo(path: string, resolved: string, target: string): TarEntry {
  return { type: 'link', path: posix.join(target, path), target: posix.relative(posix.dirname(path), resolved) };
}

async function ownFiles(root: string, path: string, target: string): Promise<TarEntry[]> {
  const wanted = (name: string): boolean => OWN_SOURCE.test(name) && !NOT_OWN_SOURCE.test(name);
  const sources = await filesBelow(root, path, target, wanted);
  const stripped = sources
    .filter((source) => source.path.endsWith('.ts'))
    .map((source) => `${posix.join(STRIPPED_FOLDER, posix.relative(target, source.path))}.js`)
    .map((file) => filesBelow(root, file, target, () => true));
  return [...sources, ...(await Promise.all(stripped)).flat()];
}

function packageFiles(root: string, path: string, architecture: Architecture, target: string): Promise<TarEntry[]> {
  return filesBelow(root, path, target, (name) => {
    const inside = name.slice(path.length + 1);
    const system = PREBUILT.exec(inside)?.[2] ?? `linux-${architecture}`;
    return PACKAGE_FILE.test(inside) && !NOT_PACKAGE_FILE.test(inside) && system === `linux-${architecture}`;
  });
}

/** Regular files below a folder of `root`, or the file itself, that `wanted` accepts by path. */
async function filesBelow(
  root: string,
  path: string,
  target: string,
  wanted: (path: string) => boolean,
): Promise<TarEntry[]> {
  const details = await stat(join(root, path));
  if (details.isDirectory()) {
    const names = (await readdir(join(root, path))).toSorted();
    const below = names.map((name) => posix.join(path, name)).filter((each) => !each.endsWith('/node_modules'));
    return (await Promise.all(below.map((each) => filesBelow(root, each, target, wanted)))).flat();
  }
  if (!details.isFile() || !wanted(path)) return [];
  const mode = (details.mode & 0o100) === 0 ? 0o644 : 0o755;
  return [{ type: 'stored', path: posix.join(target, path), mode, file: join(root, path), sizeBytes: details.size }];
}

function npmComponent(path: string, { version = '', integrity, license }: LockedPackage): Component {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return {
    type: 'library',
    name,
    version,
    purl: npmPurl(name, version),
    ...(license === undefined ? {} : { license }),
    ...(integrity === undefined ? {} : { sha512: integrityHex(integrity) }),
  };
}
