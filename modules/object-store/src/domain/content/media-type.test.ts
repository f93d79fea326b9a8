import { describe, expect, it } from 'vitest';
import { assertMediaType, parseMediaType, storedMediaType } from './media-type.ts';

describe('parseMediaType', () => {
  it.each([
    ['text/plain', 'text/plain', {}],
    ['TEXT/Plain', 'text/plain', {}],
    ['text/plain; charset=utf-8', 'text/plain', { charset: 'utf-8' }],
    ['text/plain;CHARSET="utf-8"', 'text/plain', { charset: 'utf-8' }],
    ['text/plain \t;\t charset=utf-8 ; format=flowed', 'text/plain', { charset: 'utf-8', format: 'flowed' }],
    ['text/html;', 'text/html', {}],
    ['text/html; ; ;charset=a', 'text/html', { charset: 'a' }],
    [String.raw`a/b; title="say \"hi\", x/y"`, 'a/b', { title: 'say "hi", x/y' }],
    ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.oci.image.manifest.v1+json', {}],
    ["!#$%&'*+-.^_`|~/0", "!#$%&'*+-.^_`|~/0", {}],
    ['a/b; name="\u00c3\u00bc"', 'a/b', { name: '\u00c3\u00bc' }],
  ])('parses %s', (text, essence, parameters) => {
    const parsed = parseMediaType(text);
    expect(parsed?.essence).toBe(essence);
    expect(Object.fromEntries(parsed?.parameters ?? [])).toEqual(parameters);
    expect(() => assertMediaType(text, 'Content-Type')).not.toThrow();
    expect(storedMediaType(text)).toBe(text);
  });

  it.each([
    'image/png, text/html',
    'image/png,text/html',
    'image/png text/html',
    'image/png; text/html',
    'image/png;,text/html',
    'text/html/png',
    'text / html',
    'text/',
    '/html',
    'html',
    ' text/html',
    ',text/html',
    'text/html ;x',
    'text/html; x=',
    'text/html; =y',
    'text/html; x =y',
    'text/html; x= y',
    'text/html; charset="utf-8',
    'text/html; charset="utf-8"x',
    'text/html; charset=utf-8; charset=utf-7',
    'text/html; charset=utf-8; CHARSET=utf-8',
    'text/html; charset=a,b',
    'text/html\u0000',
    'text/html\n',
    'text/h\u00e9',
    'text/html; x="\u0007"',
    `text/${'x'.repeat(1_024)}`,
  ])('rejects %j', (text) => {
    expect(parseMediaType(text)).toBeNull();
    expect(storedMediaType(text)).toBe('application/octet-stream');
    expect(() => assertMediaType(text, 'content_type')).toThrow(
      expect.objectContaining({ code: 'InvalidArgument', details: expect.objectContaining({ field: 'content_type' }) }),
    );
  });

  it('runs in linear time on adversarial text', () => {
    const slow = [';', ' ', '; ', ';\t ', '"', String.raw`\"`, 'a=', ';a=";'];
    for (const piece of slow) expect(parseMediaType(`a/b${piece.repeat(500)}!`)).toBeNull();
  });
});
