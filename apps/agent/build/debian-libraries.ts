import { mkdir, readdir, readFile, realpath, access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { namesOf, type Architecture } from './architecture.ts';
import { runTool } from './run-tool.ts';
import type { TarEntry } from '@svc/archive';

export interface LibrariesOptions {
  architecture: Architecture;
  /** Empty work folder; the returned entries refer to files in it. */
  workFolder: string;
  /** Folder with the `.deb` files, instead of the distribution's archive. */
  packagesFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

const PACKAGES: readonly string[] = ['libc6', 'libgcc-s1', 'libstdc++6'];
/**
 * Libraries that Node links against, and those glibc uses for name resolution; the last three are separate up to glibc
 * 2.33.
 */
const LIBRARIES: readonly string[] = [
  'libc.so.6',
  'libm.so.6',
  'libdl.so.2',
  'libpthread.so.0',
  'librt.so.1',
  'libgcc_s.so.1',
  'libstdc++.so.6',
  'libresolv.so.2',
  'libnss_dns.so.2',
  'libnss_files.so.2',
];

/**
 * The Debian files that Node needs, with their licenses and the metadata from which scanners read versions. Works for
 * foreign architectures too: packages are unpacked and never run.
 */
export async function debianLibraries(options: LibrariesOptions): Promise<TarEntry[]> {
  const { architecture, workFolder, signal } = options;
  const { debian, triplet, loader } = namesOf(architecture);
  const packagesFolder = options.packagesFolder ?? (await download(options));
  const files = await packageFiles(packagesFolder, debian);
  const root = join(workFolder, 'packages');
  await mkdir(root);
  const entries: TarEntry[] = [];
  for (const file of files) {
    await runTool('dpkg-deb', ['-x', file, root], { signal });
    const control = await runTool('dpkg-deb', ['-f', file], { signal });
    const name = /^Package: (\S+)$/m.exec(control)?.[1] ?? '';
    entries.push({ type: 'file', path: `var/lib/dpkg/status.d/${name}`, content: control });
    entries.push({ type: 'file', path: `usr/share/doc/${name}/copyright`, content: await readCopyright(root, name) });
  }
  const loaderName = posix.basename(loader);
  for (const name of [...LIBRARIES, loaderName]) {
    const file = await findLibrary(root, triplet, name);
    const mode = name === loaderName ? 0o755 : 0o644;
    entries.push({ type: 'file', path: `lib/${triplet}/${name}`, mode, content: await readFile(file) });
  }
  const target = posix.relative(posix.dirname(loader), `lib/${triplet}/${loaderName}`);
  entries.push({ type: 'link', path: loader, target });
  entries.push({ type: 'file', path: 'etc/os-release', content: await readFile('/etc/os-release') });
  return entries;
}

/** Uses its own apt state, so this machine needs neither root nor the foreign architecture. */
async function download({ architecture, workFolder, signal }: LibrariesOptions): Promise<string> {
  const state = join(workFolder, 'apt');
  const folder = join(workFolder, 'archive');
  for (const each of ['lists/partial', 'cache/archives/partial']) await mkdir(join(state, each), { recursive: true });
  await mkdir(folder);
  const { debian } = namesOf(architecture);
  const settings = [
    `APT::Architecture=${debian}`,
    `APT::Architectures::=${debian}`,
    `Dir::State=${state}`,
    'Dir::State::status=/dev/null',
    `Dir::Cache=${join(state, 'cache')}`,
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
  ].flatMap((setting) => ['-o', setting]);
  const apt = (...args: string[]): Promise<string> =>
    runTool('apt-get', ['-q', ...settings, ...args], { cwd: folder, signal });
  try {
    await apt('update');
    await apt('download', ...PACKAGES);
    // The licenses of two packages are in a third one, whose name contains GCC's version.
    const names = await readdir(folder);
    const compiler = names.find((name) => name.startsWith('libgcc-s1_')) ?? '';
    const depends = await runTool('dpkg-deb', ['-f', compiler, 'Depends'], { cwd: folder, signal });
    const licences = /gcc-\d+-base/.exec(depends)?.[0];
    if (licences !== undefined) await apt('download', licences);
    return folder;
  } catch (cause) {
    throw new Error(
      `cannot download ${PACKAGES.join(', ')} for ${debian} from this machine's archive; build on Debian, or pass --packages FOLDER`,
      { cause },
    );
  }
}

/** All packages of the architecture in a folder, sorted. Throws if a required one is missing. */
async function packageFiles(folder: string, debian: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(`_${debian}.deb`)).toSorted();
  const missing = PACKAGES.filter((each) => !names.some((name) => name.startsWith(`${each}_`)));
  if (missing.length > 0) throw new Error(`${folder} holds no package ${missing.join(', ')} for ${debian}`);
  return names.map((name) => join(folder, name));
}

async function readCopyright(root: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(root, 'usr/share/doc', name, 'copyright'));
  } catch (cause) {
    throw new Error(`the licence of ${name} is missing; the package gcc-N-base belongs to it`, { cause });
  }
}

/** Resolves links, whichever folder this Debian release uses. */
async function findLibrary(root: string, triplet: string, name: string): Promise<string> {
  for (const folder of [`lib/${triplet}`, `usr/lib/${triplet}`, 'lib', 'usr/lib', 'lib64', 'usr/lib64']) {
    const path = join(root, folder, name);
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) return realpath(path);
  }
  throw new Error(`no package holds ${name}`);
}
