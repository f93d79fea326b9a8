import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
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

it('keeps a file private when a draft that others can read was left by a crash', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state.json');
  await writeFile(`${path}.new`, 'part of a longer text', { mode: 0o644 });
  let modeAtFirstByte = 0;
  await replaceFile(path, async (file) => {
    modeAtFirstByte = (await file.stat()).mode & 0o777;
    await file.writeFile('one');
  });
  expect(modeAtFirstByte).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe('one');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('uses the mode and the draft that it is given', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state.json');
  const draft = join(folder.path, '.draft');
  let names: string[] = [];
  const write = async (): Promise<void> => void (names = await readdir(folder.path));
  await replaceFile(path, write, { mode: 0o640, draft, durable: false });
  expect(names).toEqual(['.draft']);
  expect(await readdir(folder.path)).toEqual(['state.json']);
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

it('keeps the file as it was when the content cannot be made or renamed', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state.json');
  await replaceFile(path, 'one');
  const fails = replaceFile(path, async (file) => {
    await file.writeFile('half');
    throw new Error('fault');
  });
  await expect(fails).rejects.toThrow('fault');
  expect(await readFile(path, 'utf8')).toBe('one');
  await mkdir(join(folder.path, 'taken'));
  await expect(replaceFile(join(folder.path, 'taken'), 'text')).rejects.toMatchObject({ code: 'EISDIR' });
  expect((await readdir(folder.path)).toSorted()).toEqual(['state.json', 'taken']);
});

it('leaves the old content when its process is killed before the new one is complete', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state.json');
  await replaceFile(path, 'one');
  const program = `
    import { replaceFile } from ${JSON.stringify(new URL('replace-file.ts', import.meta.url).href)};
    await replaceFile(${JSON.stringify(path)}, async (file) => {
      await file.writeFile('half of a longer text');
      process.stdout.write('.');
      await new Promise(() => process.stdin.resume());
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await closed;
  expect(await readFile(path, 'utf8')).toBe('one');
  await replaceFile(path, 'two'); // what the crash left does not disturb the next one
  expect(await readFile(path, 'utf8')).toBe('two');
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
