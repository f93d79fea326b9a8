import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The toolchain of `native/sandbox-agent`, pinned because its binaries are compared byte by byte. */
export const GO_VERSION = '1.26.8';

export interface GoOptions {
  readonly cacheFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly findCommand: (name: string) => string | null;
  readonly signal: AbortSignal;
}

/**
 * Returns the folder of a `go` of exactly the required version. If the one on PATH differs, gets it as the Go module
 * `golang.org/toolchain`, which any `go` can download; Debian's own is years older. Throws if there is no `go` at all.
 */
export async function ensureGo(options: GoOptions): Promise<string> {
  const folder = join(options.cacheFolder, `go-${GO_VERSION}`);
  const wanted = join(folder, 'bin');
  if (existsSync(join(wanted, 'go'))) return wanted;
  const found = options.findCommand('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : null);
  if (found === null) throw new Error('Go is missing; install it with: apt-get install -y golang-go');
  if ((await versionOf(found, options)) === GO_VERSION) return dirname(found);
  await takeFromModule(found, folder, options);
  return wanted;
}

async function versionOf(go: string, options: GoOptions): Promise<string> {
  const { stdout } = await run(go, ['version'], commandOptions(options));
  return /go(\d+\.\d+(\.\d+)?)/.exec(stdout)?.[1] ?? '';
}

async function takeFromModule(go: string, folder: string, options: GoOptions): Promise<void> {
  const system = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const work = mkdtempSync(join(tmpdir(), 'svc-go-'));
  try {
    writeFileSync(join(work, 'go.mod'), 'module toolchain\n');
    const module = `golang.org/toolchain@v0.0.1-go${GO_VERSION}.${system}`;
    const { stdout } = await run(go, ['mod', 'download', '-json', module], { ...commandOptions(options), cwd: work });
    const { Dir } = JSON.parse(stdout) as { Dir: string }; // the documented output of `go mod download -json`
    mkdirSync(options.cacheFolder, { recursive: true });
    const staging = mkdtempSync(join(options.cacheFolder, 'go-staging-'));
    cpSync(Dir, staging, { recursive: true });
    makeWritable(staging);
    makeExecutable(join(staging, 'bin'));
    makeExecutable(join(staging, 'pkg', 'tool'));
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Makes modules writable, which are stored read-only, so that `rm -r` can remove the cache. */
function makeWritable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
  }
}

/** Restores permissions, which a module's archive omits. */
function makeExecutable(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}

function commandOptions(options: GoOptions) {
  return {
    env: { ...options.environment },
    signal: options.signal,
    maxBuffer: 16 * 1024 * 1024,
    encoding: 'utf8',
  } as const;
}
