import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { LocalTarget, segmentsOfKey } from './local-target.ts';

describe('the local path of a key', () => {
  it('follows its slashes, or is rejected', () => {
    expect(segmentsOfKey('a/b c/ü')).toEqual(['a', 'b c', 'ü']);
    expect(segmentsOfKey('...')).toEqual(['...']);
    for (const key of ['', '..', '../a', 'a/..', 'a/./b', '/a', 'a//b', 'a\0b', 'x'.repeat(256)])
      expect(segmentsOfKey(key), key).toHaveProperty('refused');
  });

  it('is created with its folders, and never through a link out of the target', async () => {
    await using folder = await temporaryFolder();
    const [root, outside] = [join(folder.path, 'root'), join(folder.path, 'outside')];
    await mkdir(outside);
    const target = new LocalTarget(root);
    expect(await target.prepare('a/b/c')).toBe(join(root, 'a/b/c'));
    await writeFile(await target.prepare('a/b/c'), '');
    await symlink(outside, join(root, 'link'));
    await expect(target.prepare('link/x')).rejects.toThrow('a link');
    await expect(target.prepare('a/b/c/d')).rejects.toThrow('a file, and a folder is needed');
    await expect(target.prepare('../x')).rejects.toThrow('another folder');
  });
});
