import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkedImage, describeRequiring, temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { ARCHITECTURES, buildBinary, buildImage, bundleAgent, readAgentStamp } from './index.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const cacheFolder = join(root, '.cache');
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
/** ELF `e_machine` (System V ABI): the processor of a program. */
const MACHINES = { x64: 62, arm64: 183 } as const;

const VALID = { agent: { cluster_name: 'a' }, svc: { api_url: 'https://platform.example', token: 'c' } };

describe('the bundle', () => {
  it('holds neither a server framework that the agent does not use nor a character that doubles its size', async () => {
    const { code, notices } = await bundleAgent(root, await readAgentStamp(root));
    expect(code).not.toMatch(/[^\p{ASCII}]/u);
    expect(code).not.toContain('FST_ERR_');
    expect(notices).toContain('=== ws ');
    expect(notices).toContain('Permission is hereby granted');
  });
});

describe('the binary', () => {
  it('runs by itself, says what it is, and is the same at every build', async () => {
    await using folder = await temporaryFolder();
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
    const output = join(folder.path, 'svc-agent');
    await buildBinary({ root, architecture, output, cacheFolder });
    const first = sha256(await readFile(output));
    await buildBinary({ root, architecture, output, cacheFolder });
    expect(sha256(await readFile(output))).toBe(first);

    const file = join(folder.path, 'config.yaml');
    await writeFile(file, JSON.stringify(VALID));
    const environment = { env: { PATH: '/nowhere' }, cwd: folder.path };
    const { version } = await readAgentStamp(root);
    expect((await run(output, ['version'], environment)).stdout).toBe(`${version}\n`);
    expect((await run(output, ['validate', '--config', file], environment)).stdout).toContain(
      '✓ Configuration is valid',
    );
    await expect(run(output, ['validate', '--config', `${file}.none`], environment)).rejects.toThrow();
  });

  it('is made for each architecture on any of them', async () => {
    await using folder = await temporaryFolder();
    for (const architecture of ARCHITECTURES) {
      const output = join(folder.path, architecture);
      await buildBinary({ root, architecture, output, cacheFolder });
      expect((await readFile(output)).readUInt16LE(18)).toBe(MACHINES[architecture]);
    }
  });
});

describeRequiring(['command:dpkg-deb', 'command:apt-get'], 'the image', () => {
  it('is a layout in which every hash is right, and the same at every build', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'image.tar');
    const options = { root, architecture: 'x64', output, cacheFolder, name: 'localhost/agent:test' } as const;
    const { digest } = await buildImage(options);
    const first = sha256(await readFile(output));
    await buildImage(options);
    expect(sha256(await readFile(output))).toBe(first);
    expect(await checkedImage(output)).toEqual({ digest, architecture: 'amd64', user: '65532:65532' });
  });

  it('is made for a processor that this machine does not have', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'image.tar');
    const { digest } = await buildImage({ root, architecture: 'arm64', output, cacheFolder });
    expect(await checkedImage(output)).toEqual({ digest, architecture: 'arm64', user: '65532:65532' });
  });

  it('refuses a folder of packages that lacks one, by its name', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'image.tar');
    const options = { root, architecture: 'x64', output, cacheFolder, packagesFolder: folder.path } as const;
    await expect(buildImage(options)).rejects.toThrow(/holds no package libc6, libgcc-s1, libstdc\+\+6 for amd64/);
  });
});
