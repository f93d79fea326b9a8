import { MIMEType } from 'node:util';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { contentHeaders, SANDBOX, type ContentReader } from './content-headers.ts';
import { parseMediaType } from './media-type.ts';

const READERS: readonly ContentReader[] = ['site', 'client', 'browser', 'console'];
const KINDS = ['inline', 'attachment'] as const;
/** Shown by browsers without running code. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif)|text\/plain; charset=utf-8|application\/pdf|audio\/|video\/)/i;

/** Parses as the platform's own reference does, which is that of browsers; null if it refuses. */
function reference(text: string): MIMEType | null {
  try {
    return new MIMEType(text);
  } catch {
    return null;
  }
}

describeFuzz({
  name: 'media types and dispositions of objects',
  corpus: new URL('./corpus/media-type/', import.meta.url),
  seeds: [
    'text/html; charset=utf-8\ninline; filename="a.html"\na/b.html',
    'image/png, text/html\ninline\né"\'(%.png',
    'text/plain;charset="u\\tf-8"; format=flowed\nattachment;filename*=UTF-8\'\'a\n',
    'application/pdf\nInLine\n/',
    'multipart/x-mixed-replace; boundary=x\ninline;;\n..',
    'image/svg+xml\nform-data; name=x\na',
    'text/plain; a=1; A=2\ninline; a=1; a=2\nx',
  ],
  dictionary: [
    '/',
    ';',
    '; ',
    '=',
    '"',
    '\\',
    ',',
    'charset=',
    'text/html',
    'image/png',
    'inline',
    'attachment',
    'filename=',
    '\t',
    '\u00a0',
    '\u00ff',
    '*',
    ' ',
    '\u007f',
    '%',
  ],
  run: (input) => {
    const [type = '', disposition = '', key = ''] = input.toString('utf8').split('\n');
    const parsed = parseMediaType(type);
    if (parsed !== null) {
      const other = reference(type);
      expect(other?.essence, 'browsers read another type').toBe(parsed.essence);
      for (const [name, value] of parsed.parameters)
        expect([name, other?.params.get(name) ?? value]).toEqual([name, value]);
      expect(parseMediaType(`${type},text/html`), 'a list').toSatisfy(
        (found: unknown) => found === null || type.includes('=') || type.endsWith(';'),
      );
    }
    for (const reader of READERS) {
      for (const kind of KINDS) {
        const stored = { contentType: type, contentDisposition: disposition === '' ? null : disposition };
        const headers = contentHeaders(stored, { reader, key, disposition: kind, embedders: 'same-origin' });
        if (reader === 'site') continue; // its own origin
        expect(parseMediaType(headers['content-type'] ?? ''), headers['content-type']).not.toBeNull();
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['content-security-policy']).toMatch(/^sandbox(?: allow-same-origin)?; default-src 'none'/);
        if (reader === 'client') continue; // no page load carries its signature
        expect(headers['content-disposition']).toMatch(/^(?:inline|attachment)(?:[ \t;]|$)/);
        if (headers['content-disposition']?.startsWith('inline') === true)
          expect(headers['content-type']).toMatch(SHOWN);
        else expect(headers['content-security-policy']).toBe(SANDBOX);
      }
    }
  },
});
