import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { installProgram } from './machine.ts';

it('installs a program that several sandboxes need at once', async () => {
  const folder = await temporaryFolder('svc-install-');
  const file = join(folder.path, 'program');
  await writeFile(file, 'content');
  const run = join(folder.path, 'run');
  const install = (): Promise<string> => installProgram({ file, sha256: '0123456789abcdef0' }, run, 'mount');
  const paths = new Set(await Promise.all(Array.from({ length: 8 }, install)));
  expect([...paths]).toEqual([join(run, 'mount-0123456789abcdef')]);
  expect(await readdir(run)).toEqual(['mount-0123456789abcdef']);
  expect(await readFile([...paths][0] ?? '', 'utf8')).toBe('content');
  await folder.remove();
});
