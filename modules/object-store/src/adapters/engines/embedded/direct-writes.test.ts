import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AlignedMemory } from './aligned-memory.ts';
import { DIRECT_WRITE_BYTES } from './direct-writes.ts';
import { nodeFileSystem } from './file-system.ts';

describe('direct writes', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('mixes with ordinary writes in one file, for pieces of any size', async () => {
    const content = randomBytes(5 * DIRECT_WRITE_BYTES + 4_097);
    const lengths = [2, 1, 0.5, 0.5, 1].map((part) => part * DIRECT_WRITE_BYTES);
    const path = join(folder.path, 'file');
    const file = await nodeFileSystem().open(path, 'wx');
    let position = 0;
    for (const length of [...lengths, content.length]) {
      const end = Math.min(content.length, position + length);
      const middle = position + Math.floor((end - position) / 3);
      const chunks = [content.subarray(position, middle), content.subarray(middle, end)];
      expect(await file.writev(chunks)).toBe(end - position);
      position = end;
    }
    await file.datasync();
    await file.close();
    expect((await readFile(path)).equals(content)).toBe(true);
  });

  it('completes more concurrent writes than there are memory slots', async () => {
    const files = nodeFileSystem();
    const content = randomBytes(DIRECT_WRITE_BYTES);
    const paths = Array.from({ length: 40 }, (_, index) => join(folder.path, String(index)));
    await Promise.all(
      paths.map(async (path) => {
        const file = await files.open(path, 'wx');
        expect(await file.writev([content])).toBe(content.length);
        await file.close();
      }),
    );
    for (const path of paths) expect((await readFile(path)).equals(content)).toBe(true);
  });
});

describe('AlignedMemory', () => {
  it('hands out each slot once, and null when none is free', () => {
    const memory = new AlignedMemory(65_536, 2);
    const [first, second] = [memory.take(), memory.take()];
    expect(first?.byteOffset).not.toBe(second?.byteOffset);
    expect(memory.take()).toBeNull();
    if (first !== null) memory.give(first);
    expect(memory.take()).toBe(first);
  });
});
