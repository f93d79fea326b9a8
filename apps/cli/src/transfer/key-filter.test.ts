import { describe, expect, it } from 'vitest';
import { createKeyFilter, type FilterRule } from './key-filter.ts';

const exclude = (pattern: string): FilterRule => ({ include: false, pattern });
const include = (pattern: string): FilterRule => ({ include: true, pattern });

describe('name filters', () => {
  it('include everything by default; the last matching rule wins', () => {
    expect(createKeyFilter([])('a')).toBe(true);
    const takes = createKeyFilter([exclude('*'), include('*.txt'), exclude('secret/*')]);
    expect(['a.txt', 'sub/b.txt', 'a.bin', 'secret/c.txt'].filter(takes)).toEqual(['a.txt', 'sub/b.txt']);
  });

  it('support stars across slashes, single characters and classes, and match the rest literally', () => {
    const fits = (pattern: string, name: string): boolean => !createKeyFilter([exclude(pattern)])(name);
    expect([fits('a*z', 'a/b/z'), fits('a?c', 'abc'), fits('a?c', 'ac'), fits('?', '😀')]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect([fits('[a-c]x', 'bx'), fits('[!a-c]x', 'bx'), fits('[!a-c]x', 'dx')]).toEqual([true, false, true]);
    expect([fits('a.b', 'axb'), fits('a+(b)$', 'a+(b)$'), fits('[', '['), fits('a\nb', 'a\nb')]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('take no longer for a hostile pattern', () => {
    const pattern = `${'*'.repeat(5_000)}b`;
    expect(createKeyFilter([exclude(pattern)])('a'.repeat(1_000))).toBe(true);
  });

  it('refuses a range that is out of order with a message', () => {
    expect(() => createKeyFilter([{ include: true, pattern: '[z-a]' }])).toThrow('"[z-a]" is not a pattern');
  });
});
