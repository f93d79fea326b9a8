import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPrefix, compareKeys, commonPrefixOf } from './key-order.ts';

/** Any code point. Equivalent to fast-check's `unit: 'binary'`, which takes 20 seconds to initialize. */
const codePoint = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
const key = fc.string({ unit: codePoint, maxLength: 8 });

describe('key order', () => {
  it('compares keys by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(Math.sign(compareKeys(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
      }),
    );
    expect(compareKeys('\u{ff21}', '\u{1f600}')).toBeLessThan(0); // UTF-16 order is the opposite
  });

  it('finds the end of all texts with a prefix', () => {
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        const end = afterPrefix(prefix);
        expect(end === null || compareKeys(prefix + other, end) < 0).toBe(true);
        if (end === null || other.startsWith(prefix) || compareKeys(other, prefix) < 0) return;
        expect(compareKeys(other, end)).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(afterPrefix('a\u{10ffff}')).toBe('b');
    expect(afterPrefix('\u{d7ff}')).toBe('\u{e000}');
    expect(afterPrefix('\u{10ffff}')).toBeNull();
    expect(afterPrefix('')).toBeNull();
  });

  it('groups keys at the first delimiter after the prefix', () => {
    expect(commonPrefixOf('a/b/c', 'a/', '/')).toBe('a/b/');
    expect(commonPrefixOf('a/b', 'a/', '/')).toBeNull();
    expect(commonPrefixOf('a//b', 'a/', '/')).toBe('a//');
    expect(commonPrefixOf('a/b', '', '')).toBeNull();
    expect(commonPrefixOf('xAAyAAz', 'x', 'AA')).toBe('xAA');
  });
});
