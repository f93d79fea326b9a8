import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { TarEntry } from '@svc/archive';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeLayer } from './image-layer.ts';

const fileOf = (content: string): TarEntry => ({ type: 'file', path: 'usr/bin/program', content });

let cache: TemporaryFolder;
let output: TemporaryFolder;
beforeEach(async () => {
  [cache, output] = await Promise.all([temporaryFolder(), temporaryFolder()]);
});
afterEach(() => Promise.all([cache.remove(), output.remove()]));

const write = (content: string, cacheFolder?: string) =>
  writeLayer([fileOf(content)], { folder: output.path, cacheFolder });
const keptFiles = async () => (await readdir(join(cache.path, 'layers'))).toSorted();

describe('a kept layer', () => {
  it('is the one that a build without a cache writes', async () => {
    const { file, ...fresh } = await write('v1');
    const bytes = await readFile(file);
    expect(await write('v1', cache.path)).toEqual({ file, ...fresh });
    expect(await write('v1', cache.path)).toEqual({ file, ...fresh });
    expect(await readFile(file)).toEqual(bytes);
    expect(await keptFiles()).toEqual([`${fresh.diffId.replace('sha256:', '')}.tar.gz`]);
  });

  it('is not compressed again', async () => {
    const { diffId } = await write('v1', cache.path);
    const kept = join(cache.path, 'layers', `${diffId.replace('sha256:', '')}.tar.gz`);
    const bytes = await readFile(kept);
    bytes[4] = 1; // the time in the header, which no hash of the content covers (RFC 1952 section 2.3)
    await writeFile(kept, bytes);
    const { file } = await write('v1', cache.path);
    expect(await readFile(file)).toEqual(bytes);
  });

  it.each([
    ['is cut', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['has another byte', (bytes: Buffer) => bytes.map((byte, index) => (index === 30 ? byte ^ 1 : byte))],
    ['is empty', () => Buffer.alloc(0)],
  ])('is replaced if its file %s', async (_, damage) => {
    const { diffId, digest } = await write('v1', cache.path);
    const kept = join(cache.path, 'layers', `${diffId.replace('sha256:', '')}.tar.gz`);
    const bytes = await readFile(kept);
    await writeFile(kept, damage(bytes));
    expect((await write('v1', cache.path)).digest).toBe(digest);
    expect(await readFile(kept)).toEqual(bytes);
  });

  it('of other content is never used', async () => {
    await write('v1', cache.path);
    const { file } = await write('v2', cache.path);
    expect(gunzipSync(await readFile(file)).includes('v2')).toBe(true);
  });

  it('is removed if eight others were used since', async () => {
    const first = await write('v0', cache.path);
    const second = await write('v1', cache.path);
    for (let index = 2; index < 9; index += 1) {
      await write('v1', cache.path);
      await write(`v${index}`, cache.path);
    }
    const kept = await keptFiles();
    expect(kept).toHaveLength(8);
    expect(kept).not.toContain(`${first.diffId.replace('sha256:', '')}.tar.gz`);
    expect(kept).toContain(`${second.diffId.replace('sha256:', '')}.tar.gz`);
  });
});
