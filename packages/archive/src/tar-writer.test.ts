import { execFileSync } from 'node:child_process';
import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { writeTar, type TarEntry } from './tar-writer.ts';

async function createArchive(entries: readonly TarEntry[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('writeTar', () => {
  it('writes what tar reads: files, stored files, links, folders, modes and owners', async () => {
    await using folder = await temporaryFolder();
    const stored = join(folder.path, 'stored');
    await writeFile(stored, Buffer.alloc(100_000, 7));
    const archive = join(folder.path, 'archive.tar');
    await writeFile(
      archive,
      await createArchive([
        { type: 'folder', path: 'a', mode: 0o700, owner: 65_532 },
        { type: 'file', path: 'a/text', content: 'grüße' },
        { type: 'stored', path: 'a/stored', mode: 0o755, file: stored, sizeBytes: 100_000 },
        { type: 'link', path: 'link', target: 'a/text' },
      ]),
    );
    const listed = execFileSync('tar', ['--numeric-owner', '-tvf', archive], { encoding: 'utf8' });
    expect(listed).toMatch(/^drwx------ 65532\/65532 /);
    expect(listed).toContain('1970-01-01');
    execFileSync('tar', ['-xf', archive, '-C', folder.path]);
    expect(await readFile(join(folder.path, 'a/text'), 'utf8')).toBe('grüße');
    expect((await readFile(join(folder.path, 'a/stored'))).equals(await readFile(stored))).toBe(true);
    expect((await stat(join(folder.path, 'a/stored'))).mode & 0o777).toBe(0o755);
    expect(await readlink(join(folder.path, 'link'))).toBe('a/text');
  });

  it('splits a path of more than 100 bytes at a folder', async () => {
    await using folder = await temporaryFolder();
    const path = `${'folder/'.repeat(20)}${'n'.repeat(90)}`;
    const archive = join(folder.path, 'archive.tar');
    await writeFile(archive, await createArchive([{ type: 'file', path, content: 'far' }]));
    execFileSync('tar', ['-xf', archive, '-C', folder.path]);
    expect(await readFile(join(folder.path, path), 'utf8')).toBe('far');
  });

  it('refuses a file that is not as long as was said, and a name that does not fit', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, 'four');
    await expect(createArchive([{ type: 'stored', path: 'file', file, sizeBytes: 5 }])).rejects.toThrow(/changed/);
    await expect(createArchive([{ type: 'file', path: 'n'.repeat(101), content: '' }])).rejects.toThrow(/too long/);
  });
});
