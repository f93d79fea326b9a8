import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { children, childText, parseXml } from './xml-reader.ts';
import { xmlDocument } from './xml-writer.ts';

/** Any code point. Equivalent to fast-check's `unit: 'binary'`, which takes 20 seconds to initialize. */
const codePoint = fc
  .oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

describe('XML', () => {
  it('reads back any text that it writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 40 }), (text) => {
        fc.pre(text !== '' && !text.includes('\0')); // no document can contain NUL
        const element = parseXml(xmlDocument('Root', { Key: text }, { namespace: true }), 'Root');
        expect(childText(element, 'Key')).toBe(text);
      }),
      { numRuns: 30 },
    );
  });

  it('reads references to control characters that XML 1.0 lacks, unless another character would change', () => {
    const read = (text: string) => childText(parseXml(`<R><A>${text}</A></R>`, 'R'), 'A');
    expect(read('a&#1;b&#x1F;')).toBe('a\u0001b\u001f');
    expect(read('a\u0085\u2028b&#10;')).toBe('a\u0085\u2028b\n');
    expect(() => read('a\u2028&#1;')).toThrow('XML');
    expect(() => read('a\u0001')).toThrow('XML');
  });

  it('keeps white space and resolves references', () => {
    const element = parseXml('<Delete><Object>\n<Key> a &#13;&#x1F600;&amp;lt; </Key>\n</Object></Delete>', 'Delete');
    const [object] = children(element, 'Object');
    expect(childText(object!, 'Key')).toBe(' a \r\u{1f600}&lt; ');
  });

  it('ignores namespaces, prefixes and attributes', () => {
    const element = parseXml(
      '<?xml version="1.0"?><s:Delete xmlns:s="urn:x" a="b"><s:Quiet>true</s:Quiet></s:Delete>',
      'Delete',
    );
    expect(childText(element, 'Quiet')).toBe('true');
  });

  it.each([
    ['nothing', ''],
    ['another root', '<Other/>'],
    ['an open element', '<Delete><Object></Delete>'],
    ['a document type', '<!DOCTYPE Delete [<!ENTITY x "y">]><Delete><Key>&x;</Key></Delete>'],
    ['two roots', '<Delete/><Delete/>'],
    ['text', 'Delete'],
    ['JSON', '{"Delete":{}}'],
    ['elements without end', `<Delete>${'<a>'.repeat(2_000)}${'</a>'.repeat(2_000)}</Delete>`],
  ])('rejects %s', (_what, document) => {
    expect(() => parseXml(document, 'Delete')).toThrow(expect.objectContaining({ code: 'MalformedXML' }));
  });

  it('rejects an unknown entity, a repeated child and a child with elements where it reads text', () => {
    expect(() => parseXml('<R><A>&nbsp;</A></R>', 'R')).toThrow('XML');
    const element = parseXml('<R><B>1</B><B>2</B><C><D/></C></R>', 'R');
    expect(() => childText(element, 'B')).toThrow('XML');
    expect(() => childText(element, 'C')).toThrow('XML');
    expect(childText(element, 'E')).toBeUndefined();
  });

  it.each(['&', 'a & b', '&toString;', '&#0;', '&#xD800;', '&#1114112;', '&#x;', '&amp'])(
    'rejects the text %s',
    (text) => {
      const read = () => childText(parseXml(`<R><A>${text}</A></R>`, 'R'), 'A');
      expect(read).toThrow(expect.objectContaining({ code: 'MalformedXML' }));
    },
  );

  it('reads CDATA verbatim', () => {
    const element = parseXml('<R><A><![CDATA[a & <b> &amp;]]></A></R>', 'R');
    expect(childText(element, 'A')).toBe('a & <b> &amp;');
  });

  it('rejects any garbage with MalformedXML', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(() => parseXml(text, 'Delete')).toThrow(expect.objectContaining({ code: 'MalformedXML' }));
      }),
    );
  });
});
