import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A required program and the Debian package that provides it. */
export interface SystemPackage {
  /** What to look for: a command on PATH, or the absolute path of a file. */
  provides: string;
  package: string;
  /** The feature that needs it, for the message. */
  neededFor: string;
}

/** Options of the installation. */
export interface EnsureOptions {
  path: string;
  isRoot: boolean;
  /** Reports one line of progress; an install takes a while. */
  progress: (line: string) => void;
  signal?: AbortSignal;
}

/** Outcome of the installation. */
export interface EnsureResult {
  missing: SystemPackage[];
  /** The install command for a user who is not root. */
  command: string | null;
}

/**
 * Installs missing packages with apt as root; otherwise reports them. Takes a few file lookups if nothing is missing.
 */
export async function ensureSystemPackages(
  wanted: readonly SystemPackage[],
  options: EnsureOptions,
): Promise<EnsureResult> {
  const find = (): SystemPackage[] => wanted.filter((each) => findProgram(each.provides, options.path) === null);
  let missing = find();
  if (missing.length > 0 && options.isRoot && findProgram('apt-get', options.path) !== null) {
    const names = [...new Set(missing.map((each) => each.package))];
    options.progress(
      `installing ${names.join(', ')} (needed for ${[...new Set(missing.map((each) => each.neededFor))].join(', ')})`,
    );
    await aptInstall(names, options);
    missing = find();
  }
  const names = [...new Set(missing.map((each) => each.package))];
  return { missing, command: names.length === 0 ? null : `apt-get install -y ${names.join(' ')}` };
}

/**
 * Returns the absolute path of a program on PATH or in the sbin folders, which ordinary users lack on PATH; null if it
 * is missing. An absolute path only has to exist.
 */
export function findProgram(name: string, path: string): string | null {
  if (name.startsWith('/')) return existsSync(name) ? name : null;
  const folders = [...path.split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  const candidates = folders.filter((folder) => folder !== '').map((folder) => join(folder, name));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function aptInstall(names: readonly string[], options: EnsureOptions): Promise<void> {
  const install = ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=600', ...names];
  // Machine images often ship without package lists or with old ones: refresh once if the first attempt fails.
  if ((await run('apt-get', install, options.signal)) === 0) return;
  await run('apt-get', ['update', '-qq', '-o', 'DPkg::Lock::Timeout=600'], options.signal);
  const code = await run('apt-get', install, options.signal);
  if (code !== 0) options.progress(`apt-get could not install ${names.join(', ')} (exit code ${code})`);
}

function run(command: string, args: readonly string[], signal?: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'ignore'],
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        DEBIAN_FRONTEND: 'noninteractive',
        RUNLEVEL: '1', // packages must not start their daemons: svc starts the ones that it needs
        LANG: 'C.UTF-8',
      },
      ...(signal === undefined ? {} : { signal }),
    });
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
