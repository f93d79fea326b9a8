import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { readSmallFile, writeSmallFile } from './small-files.ts';

const AT = new Date('2026-01-02T03:04:05.000Z');

it('reads a small file whole, leaves a large one, and does not block on a pipe', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  writeFileSync(path, 'content');
  expect(readSmallFile(path, 7)?.toString()).toBe('content');
  expect(readSmallFile(path, 6)).toBe(null);
  execFileSync('mkfifo', [join(folder.path, 'pipe')]);
  for (const name of ['pipe', '.']) {
    expect(() => readSmallFile(join(folder.path, name), 7)).toThrow('is not a regular file');
  }
});

it('replaces a file atomically with its time, and leaves nothing of one that fails', async () => {
  await using folder = await temporaryFolder();
  const [path, unfinished] = [join(folder.path, 'file'), join(folder.path, 'unfinished')];
  writeSmallFile(path, unfinished, Buffer.from('first'), AT);
  writeSmallFile(path, unfinished, Buffer.from('second'), AT);
  expect([readFileSync(path, 'utf8'), statSync(path).mtimeMs]).toEqual(['second', AT.getTime()]);
  mkdirSync(join(folder.path, 'taken', 'inside'), { recursive: true });
  expect(() => writeSmallFile(join(folder.path, 'taken'), unfinished, Buffer.from('x'), AT)).toThrow();
  expect(readdirSync(folder.path).toSorted()).toEqual(['file', 'taken']);
});
