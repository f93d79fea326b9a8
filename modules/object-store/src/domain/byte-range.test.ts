import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseByteRange } from './byte-range.ts';

describe('parseByteRange', () => {
  it('selects the same bytes as slice', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_200), fc.nat(1_200), (size, first, last) => {
        const bytes = Array.from({ length: size }, (_, index) => index);
        const expected = last < first ? null : bytes.slice(first, last + 1);
        const select = () => parseByteRange(`bytes=${first}-${last}`, size);
        if (expected !== null && expected.length === 0) {
          expect(select).toThrow(expect.objectContaining({ code: 'InvalidRange', status: 416 }));
          return;
        }
        const range = select();
        expect(range === null ? null : bytes.slice(range.start, range.endExclusive)).toEqual(expected);
      }),
    );
  });

  it('counts a suffix from the end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_200 }), (size, length) => {
        expect(parseByteRange(`bytes=-${length}`, size)).toEqual({
          start: Math.max(0, size - length),
          endExclusive: size,
        });
      }),
    );
    expect(() => parseByteRange('bytes=-0', 10)).toThrow('satisfiable');
    expect(() => parseByteRange('bytes=-5', 0)).toThrow('satisfiable');
    expect(() => parseByteRange('bytes=0-', 0)).toThrow('satisfiable');
  });

  it.each([undefined, '', 'bytes', 'bytes=-', 'items=0-1', 'bytes=0-1,3-4', 'bytes=a-b', 'bytes= 0-1', 'bytes=5-2'])(
    'ignores %s as a range',
    (header) => {
      expect(parseByteRange(header, 10)).toBeNull();
    },
  );

  it('throws nothing but a 416 for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(100), (text, size) => {
        try {
          const range = parseByteRange(`bytes=${text}`, size);
          if (range !== null) expect(range.start < range.endExclusive && range.endExclusive <= size).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ status: 416 });
        }
      }),
    );
  });
});
