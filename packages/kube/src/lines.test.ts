import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from './lines.ts';

async function* splitIntoChunks(content: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let index = 0; at < content.length; index += 1) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1);
    yield content.subarray(at, at + size);
    at += size;
  }
}

async function collect(content: Buffer, sizes: readonly number[], limit = 1000): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(splitIntoChunks(content, sizes), limit)) lines.push(line);
  return lines;
}

describe('lines of a stream', () => {
  it('does not depend on chunk boundaries, even inside a character', async () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(9), { minLength: 1 }), async (lines, sizes) => {
        const content = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        expect(await collect(content, sizes)).toEqual(lines);
      }),
    );
  });

  it('returns the last line, even without a line feed', async () => {
    expect(await collect(Buffer.from('a\nb'), [1])).toEqual(['a', 'b']);
  });

  it('rejects a line longer than the limit', async () => {
    await expect(collect(Buffer.alloc(5000, 'x'), [100])).rejects.toThrow('longer than 1000 bytes');
  });
});
