import { describe, expect, it } from 'vitest';
import { BuildFault } from './build-sandbox.ts';
import { parseWildcard } from './wildcard.ts';

describe('a wildcard of COPY', () => {
  it.each([
    ['*', '', true],
    ['*.txt', 'a.txt', true],
    ['*.txt', 'a.txt.gz', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['?', 'é', true],
    ['?', '🙂', true],
    ['?', '', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[^a-c]x', 'dx', true],
    ['[]a]', ']', true],
    ['[\\]]', ']', true],
    ['[z-a]', 'm', false],
    ['[a-]', '-', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['a.c', 'abc', false],
    ['a\\', 'a\\', true],
  ])('%j on %j: %s', (pattern, name, expected) => expect(parseWildcard(pattern)(name)).toBe(expected));

  it('refuses a class that does not end', () => {
    for (const pattern of ['[', '[a', 'x[^', '[^]']) expect(() => parseWildcard(pattern), pattern).toThrow(BuildFault);
  });

  it('ends soon for patterns on which an expression would try every split', () => {
    expect(parseWildcard(`${'*a'.repeat(100)}*b`)('a'.repeat(255))).toBe(false);
    expect(parseWildcard('*'.repeat(10_000))('a'.repeat(255))).toBe(true);
  });
});
