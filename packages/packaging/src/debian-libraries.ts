import { mkdir, readdir, readFile, realpath, access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { namesOf, type Architecture } from './architecture.ts';
import { runTool } from './run-tool.ts';
import { debianPurl, type Component } from './sbom.ts';
import type { TarEntry } from '@svc/archive';

/** Options of `debianLibraries`. */
export interface LibrariesOptions {
  architecture: Architecture;
  /** Empty work folder; the returned entries refer to files in it. */
  workFolder: string;
  /** Folder with the `.deb` files, instead of the distribution's archive. */
  packagesFolder?: string | undefined;
  /** Adds the certificates that Debian trusts, as one file at `SSL_CERT_FILE`'s usual path. */
  certificates?: boolean;
  signal?: AbortSignal | undefined;
}

/** Files for an image, and the packages that they come from. */
export interface DebianLibraries {
  entries: readonly TarEntry[];
  components: readonly Component[];
}

const PACKAGES: readonly string[] = ['libc6', 'libgcc-s1', 'libstdc++6'];
const CERTIFICATES_PACKAGE = 'ca-certificates';
const CERTIFICATES_PATH = 'etc/ssl/certs/ca-certificates.crt';
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
export async function debianLibraries(options: LibrariesOptions): Promise<DebianLibraries> {
  const { architecture, workFolder, certificates = false, signal } = options;
  const { debian, triplet, loader } = namesOf(architecture);
  const wanted = certificates ? [...PACKAGES, CERTIFICATES_PACKAGE] : PACKAGES;
  const packagesFolder = options.packagesFolder ?? (await download(options, wanted));
  const files = await packageFiles(packagesFolder, debian, wanted);
  const root = join(workFolder, 'packages');
  await mkdir(root);
  const entries: TarEntry[] = [];
  const components: Component[] = [];
  for (const file of files) {
    await runTool('dpkg-deb', ['-x', file, root], { signal });
    const control = await runTool('dpkg-deb', ['-f', file], { signal });
    const field = (name: string): string => new RegExp(`^${name}: (\\S+)$`, 'm').exec(control)?.[1] ?? '';
    const [name, version] = [field('Package'), field('Version')];
    entries.push({ type: 'file', path: `var/lib/dpkg/status.d/${name}`, content: control });
    entries.push({ type: 'file', path: `usr/share/doc/${name}/copyright`, content: await readCopyright(root, name) });
    components.push({ type: 'library', name, version, purl: debianPurl(name, version, field('Architecture')) });
  }
  if (certificates) entries.push({ type: 'file', path: CERTIFICATES_PATH, content: await readCertificates(root) });
  const loaderName = posix.basename(loader);
  for (const name of [...LIBRARIES, loaderName]) {
    const file = await findLibrary(root, triplet, name);
    const mode = name === loaderName ? 0o755 : 0o644;
    entries.push({ type: 'file', path: `lib/${triplet}/${name}`, mode, content: await readFile(file) });
  }
  const target = posix.relative(posix.dirname(loader), `lib/${triplet}/${loaderName}`);
  entries.push({ type: 'link', path: loader, target });
  entries.push({ type: 'file', path: 'etc/os-release', content: await readFile('/etc/os-release') });
  return { entries, components };
}

/** All certificates as one file, in the order of their names, as `update-ca-certificates` joins them. */
async function readCertificates(root: string): Promise<Buffer> {
  const folder = join(root, 'usr/share/ca-certificates/mozilla');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.crt')).toSorted();
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
}

/** Uses its own apt state, so this machine needs neither root nor the foreign architecture. */
async function download(
  { architecture, workFolder, signal }: LibrariesOptions,
  wanted: readonly string[],
): Promise<string> {
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
    await apt('download', ...wanted);
    // The licenses of two packages are in a third one, whose name contains GCC's version.
    const names = await readdir(folder);
    const compiler = names.find((name) => name.startsWith('libgcc-s1_')) ?? '';
    const depends = await runTool('dpkg-deb', ['-f', compiler, 'Depends'], { cwd: folder, signal });
    const licences = /gcc-\d+-base/.exec(depends)?.[0];
    if (licences !== undefined) await apt('download', licences);
    return folder;
  } catch (cause) {
    throw new Error(
      `cannot download ${wanted.join(', ')} for ${debian} from this machine's archive; build on Debian, or pass --packages FOLDER`,
      { cause },
    );
  }
}

/** All packages for the architecture in a folder, sorted. Throws if a required one is missing. */
async function packageFiles(folder: string, debian: string, wanted: readonly string[]): Promise<string[]> {
  const names = (await readdir(folder))
    .filter((name) => name.endsWith(`_${debian}.deb`) || name.endsWith('_all.deb'))
    .toSorted();
  const missing = wanted.filter((each) => !names.some((name) => name.startsWith(`${each}_`)));
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
