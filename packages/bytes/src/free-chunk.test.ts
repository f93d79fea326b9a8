import { describe, expect, it } from 'vitest';
import { freeAfter, freeChunk } from './free-chunk.ts';

describe('freeChunk', () => {
  it('frees a chunk that is all of its memory, even when called again', () => {
    const chunk = Buffer.from(new ArrayBuffer(64 * 1024));
    freeChunk(chunk);
    expect(chunk).toHaveLength(0);
    freeChunk(chunk);
  });

  it('leaves a chunk alone if its memory holds other data', () => {
    const [first, second] = [Buffer.from('one'), Buffer.from('two')];
    freeChunk(first);
    freeChunk(Buffer.from(new ArrayBuffer(8), 0, 4));
    expect([first.toString(), second.toString()]).toEqual(['one', 'two']);
  });
});

describe('freeAfter', () => {
  it('frees the chunk when the last holder releases it', () => {
    const chunk = Buffer.from(new ArrayBuffer(64 * 1024));
    const release = freeAfter(chunk, 2);
    release();
    expect(chunk).toHaveLength(64 * 1024);
    release();
    expect(chunk).toHaveLength(0);
  });
});
