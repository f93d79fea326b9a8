import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Name of an architecture as Node has it, and as Go has it. */
export const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['arm64', 'arm64'],
  ['x64', 'amd64'],
]);

/**
 * The same source gives the same bytes on every machine: pinned toolchain (go.mod), no C, no paths, no version stamp, no
 * build ID. Without inlining beyond Go's own runtime, and with functions close together, the binary stays small. It
 * begins in internal/boot/entry.go.
 */
export const BUILD_SETTINGS = {
  environment: { CGO_ENABLED: '0', GOOS: 'linux', GOAMD64: 'v1', GOARM64: 'v8.0', GOEXPERIMENT: '' },
  arguments: [
    '-trimpath',
    '-buildvcs=false',
    '-gcflags=all=-l',
    '-gcflags=runtime=',
    '-gcflags=internal/runtime/...=',
    '-ldflags=-s -w -buildid= -funcalign=16 -E svc.dev/sandbox-agent/internal/boot.entry',
  ],
} as const;

/** Arguments for programs that are not in each sandbox, and so need not be as small. */
const USUAL_ARGUMENTS = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid='] as const;

/** A program of `native/`, by the name of its folder. */
export type NativeProgram = 'sandbox-agent' | 'bucket-mount';

/** Names of the programs in messages. */
export const PROGRAM_TITLES: Readonly<Record<NativeProgram, string>> = {
  'sandbox-agent': 'sandbox helper',
  'bucket-mount': 'bucket mount',
};

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const run = promisify(execFile);

/** One run of the compiler. */
export interface GoBuild {
  readonly program: NativeProgram;
  readonly sourceFolder: string;
  /** As Node names it. */
  readonly architecture: string;
  readonly output: string;
  /** Folder with `go`. */
  readonly goFolder: string;
  readonly cacheFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Settings of Go that keep modules and compiled packages in the project's cache, as a build needs no home folder. */
export function goCaches(cacheFolder: string): Record<string, string> {
  return {
    GOCACHE: join(cacheFolder, 'go-build'),
    GOPATH: join(cacheFolder, 'go-path'),
    GOMODCACHE: join(cacheFolder, 'go-path', 'mod'),
    GOFLAGS: '-modcacherw', // else `rm -r` fails on it
    GOWORK: 'off',
  };
}

/** Compiles a program. The error has the compiler's last lines. */
export async function buildHelper(build: GoBuild): Promise<void> {
  const { goFolder, environment, signal } = build;
  const env = {
    ...environment,
    ...goCaches(build.cacheFolder),
    ...BUILD_SETTINGS.environment,
    GOARCH: ARCHITECTURES.get(build.architecture),
    GOTOOLCHAIN: 'local',
    GOROOT: undefined, // of another toolchain
    PATH: [goFolder, environment['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
  };
  const options = {
    cwd: build.sourceFolder,
    env,
    maxBuffer: MAX_OUTPUT_BYTES,
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    await run(join(goFolder, 'go'), ['build', ...argumentsFor(build.program), '-o', build.output, '.'], options);
  } catch (error) {
    const { stderr } = error as { stderr?: string }; // of execFile
    const said = (stderr ?? String(error)).trim().split('\n').slice(-20).join('\n');
    const remedy = /\b(golang\.org\/x\/sys|github\.com\/\S+)@/.test(said)
      ? ' (it comes from a Go module proxy: set GOPROXY to one in reach)'
      : '';
    throw new Error(`the ${PROGRAM_TITLES[build.program]} could not be built: ${said}${remedy}`, { cause: error });
  }
}

function argumentsFor(program: NativeProgram): readonly string[] {
  return program === 'sandbox-agent' ? BUILD_SETTINGS.arguments : USUAL_ARGUMENTS;
}
