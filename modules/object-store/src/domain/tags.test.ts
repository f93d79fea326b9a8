import { describe, expect, it } from 'vitest';
import { assertTags, MAX_BUCKET_TAGS, MAX_OBJECT_TAGS, parseTagQuery } from './tags.ts';

describe('tags', () => {
  it('parses the query form of a header, with empty values, spaces and escapes', () => {
    expect(parseTagQuery('a=1&b=&c&d%20e=f+g&k%3D=%2B')).toEqual({ a: '1', b: '', c: '', 'd e': 'f g', 'k=': '+' });
    expect(parseTagQuery('')).toEqual({});
    expect(parseTagQuery('&a=1&&')).toEqual({ a: '1' });
    expect(Object.keys(parseTagQuery('__proto__=x'))).toEqual(['__proto__']);
  });

  it.each([
    ['a key that is too long', `${'k'.repeat(129)}=x`],
    ['a value that is too long', `k=${'v'.repeat(257)}`],
    ['a character that no tag has', 'k=%24'],
    ['a name of the system', 'aws:a=b'],
    ['one too many', Array.from({ length: 11 }, (_, index) => `k${index}=v`).join('&')],
  ])('rejects %s', (_, text) => {
    expect(() => parseTagQuery(text)).toThrow(expect.objectContaining({ code: 'InvalidTag' }));
  });

  it.each([
    ['a key that is empty', '=x'],
    ['a key that comes twice', 'a=1&a=2'],
  ])('rejects a header with %s', (_, text) => {
    expect(() => parseTagQuery(text)).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  });

  it('rejects invalid escapes', () => {
    expect(() => parseTagQuery('a=%zz')).toThrow(expect.objectContaining({ code: 'InvalidArgument' }));
  });

  it('accepts the maximum number and length, counted in characters', () => {
    const pairs = Array.from(
      { length: MAX_OBJECT_TAGS },
      (_, index) => ['é'.repeat(127) + index, 'é'.repeat(256)] as const,
    );
    expect(Object.keys(assertTags(pairs, MAX_OBJECT_TAGS))).toHaveLength(10);
    const many = Array.from({ length: MAX_BUCKET_TAGS + 1 }, (_, index) => [`k${index}`, ''] as const);
    expect(() => assertTags(many, MAX_BUCKET_TAGS)).toThrow(expect.objectContaining({ code: 'BadRequest' }));
  });
});
