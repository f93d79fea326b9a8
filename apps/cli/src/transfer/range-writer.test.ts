import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { RangeWriter } from './range-writer.ts';

it('writes chunks of any size in order, from its start position', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  const file = await open(path, 'w');
  const chunks = [1, 65_536, 3, 2_000_000, 700_000, 9].map((sizeBytes) => randomBytes(sizeBytes));
  const writer = new RangeWriter(file, 5);
  for (const chunk of chunks) await writer.write(chunk);
  await writer.end();
  await file.close();
  expect((await readFile(path)).equals(Buffer.concat([Buffer.alloc(5), ...chunks]))).toBe(true);
});

it('reports a failed write by the end at the latest', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  await (await open(path, 'w')).close();
  const readOnly = await open(path, 'r');
  const writer = new RangeWriter(readOnly, 0);
  await writer.write(Buffer.alloc(2_000_000));
  await expect(writer.end()).rejects.toMatchObject({ code: 'EBADF' });
  await writer.abandon();
  await readOnly.close();
});
