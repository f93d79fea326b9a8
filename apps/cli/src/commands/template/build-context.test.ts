import { execFileSync } from 'node:child_process';
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packSources, readIgnoreRules } from './build-context.ts';

describe('the files of a build', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder('svc-context-');
    await mkdir(join(folder.path, 'src/deep'), { recursive: true });
    for (const name of ['src/a.txt', 'src/b.log', 'src/.hidden', 'src/deep/c.txt', 'top']) {
      await writeFile(join(folder.path, name), name);
    }
    await symlink('a.txt', join(folder.path, 'src/link'));
  });
  afterEach(() => folder.remove());

  const listed = async (sources: string[], ignore?: string): Promise<{ names: string[]; sha256: string }> => {
    if (ignore !== undefined) await writeFile(join(folder.path, '.dockerignore'), ignore);
    const archive = await packSources(folder.path, sources, await readIgnoreRules(folder.path));
    try {
      const names = execFileSync('tar', ['-tf', archive.file], { encoding: 'utf8' }).trim().split('\n');
      return { names, sha256: archive.sha256 };
    } finally {
      await archive.remove();
    }
  };

  it('are those of the sources, with folders, links and hidden files', async () => {
    expect((await listed(['src'])).names).toEqual([
      'src/',
      'src/.hidden',
      'src/a.txt',
      'src/b.log',
      'src/deep/',
      'src/deep/c.txt',
      'src/link',
    ]);
    expect((await listed(['src/*'])).names).toContain('src/.hidden');
    expect((await listed(['src/*.txt', 'top'])).names).toEqual(['src/a.txt', 'top']);
    await expect(listed(['nothing*'])).rejects.toThrow('no such file');
  });

  it('leave out what .dockerignore names, and keep its exceptions', async () => {
    const { names } = await listed(['.'], '# logs\n**/*.log\nsrc/deep\n!src/deep/c.txt\n.dockerignore\n');
    expect(names).toEqual(['src/', 'src/.hidden', 'src/a.txt', 'src/deep/c.txt', 'src/link', 'top']);
  });

  it('make the same archive whatever their times', async () => {
    const before = await listed(['src']);
    await utimes(join(folder.path, 'src/a.txt'), 1, 1);
    expect(await listed(['src'])).toEqual(before);
    await writeFile(join(folder.path, 'src/a.txt'), 'other');
    expect((await listed(['src'])).sha256).not.toBe(before.sha256);
  });
});
