import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { children, parseXml, type XmlElement } from './xml-reader.ts';

const ROOT = 'Delete';

function parse(document: string): XmlElement | null {
  try {
    return parseXml(document, ROOT);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

function depthOf(element: XmlElement, limit = 30): number {
  if (typeof element === 'string' || limit === 0) return 1;
  const inner = Object.keys(element).flatMap((name) => children(element, name));
  return 1 + Math.max(0, ...inner.map((each) => depthOf(each, limit - 1)));
}

describeFuzz({
  name: 'the XML reader',
  corpus: new URL('./corpus/xml-reader/', import.meta.url),
  seeds: [
    '<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object><Quiet>true</Quiet></Delete>',
    '<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object/></Delete>',
    '<Delete><Key>&#x1;&amp;&lt;</Key><Key><![CDATA[<&]]></Key><!-- c --></Delete>',
    '<!DOCTYPE Delete [<!ENTITY a "b">]><Delete>&a;</Delete>',
    '<s3:Delete xmlns:s3="x"><s3:Object/></s3:Delete>',
  ],
  dictionary: [
    '<Delete>',
    '</Delete>',
    '<Object>',
    '<__proto__>',
    '</__proto__>',
    '<constructor/>',
    '<!DOCTYPE ',
    '<!ENTITY ',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '&amp;',
    '&#x1;',
    '&#xD800;',
    '&#1114112;',
    ' xmlns="',
    '<?xml version="1.1"?>',
    '\u2028',
    '\u0085',
  ],
  run: (input) => {
    const document = input.toString('utf8');
    const parsed = parse(document);
    if (parsed === null) return;
    expect(/<!DOCTYPE/.test(document.replaceAll(/<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>/g, ''))).toBe(false);
    expect(depthOf(parsed)).toBeLessThanOrEqual(20);
    expect(typeof parsed === 'string' || Object.getPrototypeOf(parsed) === null).toBe(true);
  },
});
