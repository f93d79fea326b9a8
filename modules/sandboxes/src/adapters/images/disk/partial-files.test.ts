import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PartialFiles } from './partial-files.ts';
import { isTokenAlive, ownToken } from './process-token.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const NOW_MS = Date.parse('2026-01-02T00:00:00Z');

describe('partial files', () => {
  let folder: TemporaryFolder;
  let files: PartialFiles;
  beforeEach(async () => {
    folder = await temporaryFolder('svc-partial-');
    await mkdir(join(folder.path, 'partial'));
    files = new PartialFiles(folder.path, () => NOW_MS);
  });
  afterEach(() => folder.remove());
  const put = async (owner: string, modified = NOW_MS): Promise<void> => {
    const file = join(folder.path, 'partial', `${DIGEST.replace(':', '-')}.${owner}.abcd`);
    await writeFile(file, `of ${owner}`);
    await utimes(file, modified / 1000, modified / 1000);
  };

  it('are taken over from a killed process, even if its pid was reused', async () => {
    await put(`${process.pid}.1`);
    expect(await readFile(await files.take(DIGEST), 'utf8')).toBe(`of ${process.pid}.1`);
  });

  it('are left to the process that works on them', async () => {
    await put(ownToken());
    const other = await files.take(DIGEST);
    await expect(readFile(other)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('can be taken once after they are released', async () => {
    const first = await files.take(DIGEST);
    await writeFile(first, 'begun');
    await files.leave(first);
    const taken = [await files.take(DIGEST), await files.take(DIGEST)];
    const contents = await Promise.all(taken.map((file) => readFile(file, 'utf8').catch(() => null)));
    expect(contents).toEqual(['begun', null]);
  });

  it('expire after a day unless a process works on them', async () => {
    await put('1.1', NOW_MS - 25 * 3_600_000);
    await put('2.1', NOW_MS - 23 * 3_600_000);
    await put(ownToken(), NOW_MS - 25 * 3_600_000);
    await files.sweep();
    expect(await readdir(join(folder.path, 'partial'))).toHaveLength(2);
  });
});

describe('process tokens', () => {
  it('are alive exactly as long as the process', () => {
    expect(isTokenAlive(ownToken())).toBe(true);
    expect(['', '0.0', 'x', `${process.pid}`, `${process.pid}.1`, '999999999.5'].filter(isTokenAlive)).toEqual([]);
  });
});
