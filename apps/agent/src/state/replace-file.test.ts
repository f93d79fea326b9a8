import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { replaceFile } from './replace-file.ts';

it('writes a file that only its owner reads, and replaces it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state.json');
  await replaceFile(path, 'one');
  await replaceFile(path, 'two');
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['state.json']);
});

describeRequiring(['root', 'linux'], 'on a full disk', () => {
  it('keeps the file as it was, and leaves nothing of the new one', async () => {
    await using folder = await temporaryFolder();
    const disk = join(folder.path, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      const path = join(disk, 'state.json');
      await replaceFile(path, 'one');
      await expect(replaceFile(path, 'x'.repeat(100_000))).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(await readdir(disk)).toEqual(['state.json']);
      expect(await readFile(path, 'utf8')).toBe('one');
      await replaceFile(path, 'two');
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});
