import { describe, expect, it } from 'vitest';
import { parseRange } from './file-range.ts';

describe('a byte range of a file', () => {
  it.each([
    ['bytes=0-0', { offset: 0, length: 1 }],
    ['bytes=2-4', { offset: 2, length: 3 }],
    ['bytes=7-', { offset: 7, length: 3 }],
    ['bytes=-4', { offset: 6, length: 4 }],
    ['bytes=-99', { offset: 0, length: 10 }],
    ['bytes=5-99', { offset: 5, length: 5 }],
  ])('parses %s of ten bytes', (header, range) => expect(parseRange(header, 10)).toEqual(range));

  it.each([undefined, '', 'bytes=-', 'bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=a-b'])(
    'is absent in %j',
    (header) => expect(parseRange(header, 10)).toBeNull(),
  );

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('is unsatisfiable: %s', (header) =>
    expect(() => parseRange(header, 10)).toThrow('outside'),
  );
});
