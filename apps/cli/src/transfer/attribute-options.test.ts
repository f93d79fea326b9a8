import { describe, expect, it } from 'vitest';
import { readAttributes, uploadHeaders } from './attribute-options.ts';

describe('object attribute options', () => {
  it('become the headers of an upload, over those derived from the name', () => {
    const given = readAttributes({
      contentDisposition: 'attachment',
      expires: '2030-01-31T00:00:00Z',
      metadata: ['Colour=green', 'formula=a=b'],
      tag: ['owner=me & you', 'kind=a=b'],
      acl: 'public-read',
    });
    expect(uploadHeaders(given, 'a/b.txt')).toEqual({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
      expires: 'Thu, 31 Jan 2030 00:00:00 GMT',
      'x-amz-meta-colour': 'green',
      'x-amz-meta-formula': 'a=b',
      'x-amz-tagging': 'owner=me%20%26%20you&kind=a%3Db',
      'x-amz-acl': 'public-read',
    });
    expect(uploadHeaders(readAttributes({ contentType: 'text/csv' }), 'b.txt')).toEqual({ 'content-type': 'text/csv' });
  });

  it.each([
    [{ metadata: ['colour'] }],
    [{ metadata: ['=green'] }],
    [{ metadata: ['a b=c'] }],
    [{ metadata: ['a=b\nc: d'] }],
    [{ cacheControl: 'max-age=1\r\nx: y' }],
    [{ tag: ['alone'] }],
    [{ acl: 'everybody' }],
    [{ expires: 'soon' }],
  ])('are rejected before anything is sent if invalid: %j', (flags) => {
    expect(() => readAttributes(flags)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
