import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SYSTEM = `${platform() === 'darwin' ? 'Darwin' : 'Linux'}-${
  arch() === 'x64' ? 'x86_64' : platform() === 'darwin' ? 'arm64' : 'aarch64'
}`;

interface Launched {
  readonly exitCode: number;
  readonly stderr: string;
  /** Contents of the launcher's cache. */
  readonly cached: readonly string[];
}

/** Runs the launcher in its own folder, where npm provides this archive and no installed Node.js is recent enough. */
async function launch(
  archive: (npmPackage: string) => Promise<Buffer>,
  pinned: (archive: Buffer) => string,
): Promise<Launched> {
  await using folder = await temporaryFolder();
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  const program = async (name: string, script: string): Promise<void> => {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  };
  const bytes = await archive(folder.path);
  await writeFile(join(folder.path, 'given.tgz'), bytes);
  await program('node', 'exit 1');
  await program('npm', `cp '${folder.path}/given.tgz' ./node-of-a-mirror-1.0.0.tgz`);
  await copyFile(join(ROOT, 'svc'), join(folder.path, 'svc'));
  await writeFile(
    join(folder.path, '.node-packages'),
    `# a comment\n${SYSTEM} node-of-a-mirror 1.0.0 ${pinned(bytes)}\n`,
  );
  // The same lock is already installed, so the launcher only has to start Node.js.
  await mkdir(join(folder.path, 'node_modules'));
  await writeFile(join(folder.path, 'package-lock.json'), '{}');
  await writeFile(join(folder.path, 'node_modules/.svc-lock'), '{}');
  const { exitCode, stderr } = await new Promise<{ exitCode: number; stderr: string }>((resolve) => {
    const environment = { PATH: `${bin}:/usr/bin:/bin` };
    execFile(join(folder.path, 'svc'), ['anything'], { env: environment }, (error, stdout, errors) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stderr: `${errors}${stdout}` });
    });
  });
  return { exitCode, stderr, cached: await readdir(join(folder.path, '.cache')).catch(() => []) };
}

/** Creates an npm package whose Node.js reports that it ran. */
async function nodePackage(folder: string): Promise<Buffer> {
  await mkdir(join(folder, 'package/bin'), { recursive: true });
  await writeFile(join(folder, 'package/bin/node'), '#!/bin/sh\necho this Node ran\n');
  await chmod(join(folder, 'package/bin/node'), 0o755);
  const made = join(folder, 'made.tgz');
  await new Promise<void>((resolve, reject) => {
    execFile('tar', ['-czf', made, '-C', folder, 'package'], (error) => (error === null ? resolve() : reject(error)));
  });
  return readFile(made);
}

const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

describe('the launcher without an installed Node.js', () => {
  it('runs the package with the pinned hash', async () => {
    const { exitCode, stderr, cached } = await launch(nodePackage, integrityOf);
    expect(stderr).toBe('svc: fetching Node 1.0.0\nthis Node ran\n');
    expect(exitCode).toBe(0);
    expect(cached).toEqual(['node-1.0.0']);
  });

  it('rejects a package with one changed byte, in one line, and unpacks nothing', async () => {
    const other = integrityOf(Buffer.from('what was pinned'));
    const { exitCode, stderr, cached } = await launch(nodePackage, () => other);
    expect(exitCode).toBe(1);
    const [first, line, ...rest] = stderr.trim().split('\n');
    expect(first).toBe('svc: fetching Node 1.0.0');
    expect(line).toMatch(
      /^svc: node-of-a-mirror@1\.0\.0 is not the package that \.node-packages pins; nothing of it was unpacked\. sha512 is [0-9a-f]{128}, not [0-9a-f]{128}$/,
    );
    expect(rest).toEqual([]);
    expect(cached).toEqual([]);
  });

  it.each(['', 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', 'sha512-'])(
    'rejects any package when the pin is %j',
    async (pin) => {
      const { exitCode, stderr, cached } = await launch(nodePackage, () => pin);
      expect(exitCode).toBe(1);
      expect(stderr).toContain('nothing of it was unpacked');
      expect(cached).toEqual([]);
    },
  );
});

describe('.node-packages', () => {
  it('pins a package for each system, at the version of .node-version on Linux', async () => {
    const lines = (await readFile(join(ROOT, '.node-packages'), 'utf8'))
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line));
    const wanted = (await readFile(join(ROOT, '.node-version'), 'utf8')).trim();
    const pins = lines.map((line) => line.split(' '));
    expect(pins.map(([system]) => system)).toEqual(['Linux-x86_64', 'Linux-aarch64', 'Darwin-arm64', 'Darwin-x86_64']);
    for (const [system = '', , version, integrity = ''] of pins) {
      if (system.startsWith('Linux')) expect(version).toBe(wanted);
      expect(Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').length).toBe(64);
    }
  });
});
