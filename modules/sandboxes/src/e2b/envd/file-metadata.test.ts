import { describe, expect, it } from 'vitest';
import { parseMetadata, toMetadataView } from './file-metadata.ts';

describe('metadata of an upload', () => {
  it('comes from its headers and is shown by the same names', () => {
    const attributes = parseMetadata({
      'x-metadata-author': 'ann',
      'x-metadata-a.b': 'c d',
      'content-type': 'text/plain',
    });
    expect(attributes).toEqual({ 'user.e2b.author': 'ann', 'user.e2b.a.b': 'c d' });
    expect(toMetadataView({ ...attributes, 'user.other': 'x' })).toEqual({ author: 'ann', 'a.b': 'c d' });
  });

  it.each([
    [{ 'x-metadata-': 'x' }],
    [{ [`x-metadata-${'a'.repeat(247)}`]: 'x' }],
    [{ 'x-metadata-a': 'ü' }],
    [{ 'x-metadata-a': 'b\tc' }],
    [{ 'x-metadata-a': 'x'.repeat(4096) }],
    [{ 'x-metadata-a': 'x'.repeat(2048), 'x-metadata-b': 'x'.repeat(2048) }],
  ])('is refused if a file cannot keep it (%#)', (headers) => {
    expect(() => parseMetadata(headers)).toThrow(expect.objectContaining({ code: 'INVALID_FIELD' }));
  });
});
