import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from './command-line.ts';

const NOWHERE = '127.0.0.1:1/absent:1';

describeRequiring(['linux', 'root', 'command:xz'], 'svc images', () => {
  let folder: TemporaryFolder;
  let archive: string;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-images-cli-');
    await mkdir(join(folder.path, 'root'));
    await writeFile(join(folder.path, 'root', 'file'), 'content');
    archive = join(folder.path, 'rootfs.tar.xz');
    execFileSync('tar', ['-C', join(folder.path, 'root'), '-cJf', archive, '.']);
    await writeFile(
      join(folder.path, 'config.yaml'),
      JSON.stringify({
        sandboxes: {
          image_registry: '',
          images: [
            {
              name: 'mine',
              aliases: ['own'],
              sources: [
                { kind: 'registry', reference: NOWHERE },
                { kind: 'rootfs_tar', path: archive },
              ],
            },
            { name: 'broken', sources: [{ kind: 'registry', reference: NOWHERE }] },
          ],
        },
      }),
    );
  });
  afterAll(() => folder.remove());

  const images = (...args: string[]): Promise<CommandResult> => {
    const flags = ['--data', join(folder.path, 'data'), '--config', join(folder.path, 'config.yaml')];
    return new CommandLine({}, folder.path).run(['images', ...args, ...flags]);
  };

  it('pulls an image by its alias, lists the sources it tries, and reports an image that already exists', async () => {
    const first = await images('pull', 'own');
    expect(first).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`own: resolving from registry ${NOWHERE}`),
    });
    expect(first.stderr).toContain(`own: building from archive ${archive}`);
    expect(first.stdout.toString()).toMatch(/^own ready, 7 B \(sha256:[0-9a-f]{64} from archive /);
    const second = await images('pull', 'mine', '--json');
    expect(JSON.parse(second.stdout.toString())).toMatchObject([{ name: 'mine', changed: false, bytes: 7 }]);
    expect(second.stderr).toBe('');
  });

  it('names every failed source', async () => {
    const { exitCode, stderr } = await images('pull', 'broken');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`registry ${NOWHERE}: 127.0.0.1:1 cannot be reached: nothing listens there`);
    expect((await images('pull', 'nobody-knows')).stderr).toMatch(/Unknown image nobody-knows/);
  });

  it('lists local images and available images', async () => {
    const here = (await images('list')).stdout.toString().trim().split('\n');
    expect(here).toEqual([
      expect.stringMatching(/^NAME +DIGEST/),
      expect.stringMatching(/^mine +sha256:[0-9a-f]{12} +7 B +1 +no/),
    ]);
    const all = JSON.parse((await images('ls', '--all', '--json')).stdout.toString()) as {
      name: string;
      here: boolean;
    }[];
    expect(all.find(({ name }) => name === 'broken')).toEqual({ name: 'broken', here: false });
  });

  it('removes an image once, and reports an unknown one', async () => {
    expect((await images('rm', 'own')).stdout.toString()).toBe('own removed, 7 B freed\n');
    expect(await images('rm', 'own')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('image own not found'),
    });
    expect((await images('list')).stdout.toString()).toBe('');
  });
});
