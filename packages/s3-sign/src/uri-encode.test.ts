import { describe, expect, it } from 'vitest';
import { canonicalPath, objectPath, uriEncode } from './uri-encode.ts';

describe('percent-encoding', () => {
  it('escapes everything but the unreserved characters, slashes of a key included', () => {
    expect(uriEncode("a/b c+~'()*!é")).toBe('a%2Fb%20c%2B~%27%28%29%2A%21%C3%A9');
  });

  it('normalizes a path, and returns null for a malformed one', () => {
    expect(canonicalPath('/b/a%2fb/c d/(x)')).toBe('/b/a%2Fb/c%20d/%28x%29');
    expect(canonicalPath('/b/%zz')).toBeNull();
  });

  it('keeps the slashes of an object path and its dot segments', () => {
    expect(objectPath('bucket', `a/../b//c (1)'*!~ü`)).toBe('/bucket/a/../b//c%20%281%29%27%2A%21~%C3%BC');
    expect(objectPath('bucket')).toBe('/bucket');
  });
});
