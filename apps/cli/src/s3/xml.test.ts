import { describe, expect, it } from 'vitest';
import { parseS3Error } from './s3-error.ts';
import { childrenOf, childText, escapeXml, parseXml } from './xml.ts';

describe('S3 documents', () => {
  it('are parsed with entities, empty elements and repeated children', () => {
    const root = parseXml(
      '<?xml version="1.0"?>\n<List xmlns="x"><A>1 &lt;&#38;&#x1F600;&gt;</A><A/><B x="y">2</B></List>',
    );
    expect(root.name).toBe('List');
    expect(childrenOf(root, 'A').map(({ text }) => text)).toEqual(['1 <&😀>', '']);
    expect([childText(root, 'B'), childText(root, 'C')]).toEqual(['2', undefined]);
  });

  it('are rejected if truncated or malformed', () => {
    for (const text of ['', '<A>', '<A><B></A>', '</A>', 'nothing'])
      expect(() => parseXml(text), text).toThrow('not well-formed');
  });

  it('preserve any key by escaping', () => {
    const key = `a<b>&"c"'d'\r\n\t😀`;
    expect(parseXml(`<Key>${escapeXml(key)}</Key>`).text).toBe(key);
  });

  it('become errors that name the reason, even without a document', () => {
    const told = parseS3Error(404, 'r1', '<Error><Code>NoSuchBucket</Code><Message>There is none</Message></Error>');
    expect(told).toMatchObject({ status: 404, code: 'NoSuchBucket', message: 'There is none', requestId: 'r1' });
    expect(parseS3Error(403, null, '')).toMatchObject({ code: 'AccessDenied', isPassing: false });
    expect(parseS3Error(503, null, '<html>')).toMatchObject({ code: 'HTTP_503', isPassing: true });
  });
});
