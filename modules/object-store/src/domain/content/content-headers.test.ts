import { describe, expect, it } from 'vitest';
import { contentHeaders, type ContentReader } from './content-headers.ts';

function headersFor(contentType: string, reader: ContentReader, contentDisposition: string | null = null) {
  const view = { reader, key: 'folder/a "b".html', disposition: 'inline', embedders: 'cross-origin' } as const;
  return contentHeaders({ contentType, contentDisposition }, view);
}

describe('contentHeaders', () => {
  it.each([
    'image/png',
    'image/jpeg',
    'image/gif',
    'image/webp',
    'image/avif',
    'application/pdf',
    'audio/mpeg',
    'video/mp4',
  ])('displays %s in a sandbox', (type) => {
    for (const reader of ['browser', 'console'] as const) {
      const headers = headersFor(type, reader);
      expect(headers).toMatchObject({ 'content-type': type, 'x-content-type-options': 'nosniff' });
      expect(headers['content-disposition']).toMatch(/^inline; filename="/);
      expect(headers['content-security-policy']).toMatch(/^sandbox( allow-same-origin)?; default-src 'none'/);
    }
  });

  it('displays text as UTF-8, whatever charset it declares', () => {
    for (const type of ['text/plain', 'TEXT/PLAIN; charset=utf-7', 'text/plain; charset=utf-16']) {
      expect(headersFor(type, 'browser')).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'content-security-policy': "sandbox; default-src 'none'",
      });
    }
  });

  it.each([
    'text/html',
    'text/xsl',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/css',
    'text/javascript',
    'image/bmp',
    'audio/unknown',
    'video/unknown',
    'multipart/x-mixed-replace; boundary=b',
    'message/rfc822',
    'application/octet-stream',
    'image/png, text/html',
    '',
  ])('serves %s as an attachment only', (type) => {
    for (const reader of ['browser', 'console'] as const) {
      for (const disposition of [
        null,
        'inline',
        'inline; filename="x"',
        'INLINE',
        'attachment, inline',
        '"attachment"',
        '',
      ]) {
        const headers = headersFor(type, reader, disposition);
        expect(headers['content-disposition'], String(disposition)).toMatch(/^attachment/);
        expect(headers['content-security-policy']).toBe("sandbox; default-src 'none'");
      }
    }
  });

  it('keeps the file name of a disposition, but rejects dispositions that browsers interpret differently', () => {
    expect(headersFor('text/html', 'browser', 'inline; filename="x.html"')['content-disposition']).toBe(
      'attachment; filename="x.html"',
    );
    expect(headersFor('image/png', 'browser', 'attachment; filename=x')['content-disposition']).toBe(
      'attachment; filename=x',
    );
    expect(headersFor('image/png', 'browser', 'shown; filename=x')['content-disposition']).toBe(
      `inline; filename="a _b_.html"; filename*=UTF-8''a%20%22b%22.html`,
    );
  });

  it('serves the console no type that one of its pages could run', () => {
    for (const type of [
      'text/javascript',
      'text/css',
      'application/wasm',
      'application/json',
      'text/html',
      'unknown/unknown',
    ]) {
      expect(headersFor(type, 'console')['content-type']).toBe('application/octet-stream');
      expect(headersFor(type, 'browser')['content-type']).toBe(type);
    }
    for (const type of ['multipart/mixed', 'message/rfc822', 'image/png, text/html']) {
      expect(headersFor(type, 'browser')['content-type']).toBe('application/octet-stream');
    }
  });

  it('returns stored types to S3 clients, and pages to websites', () => {
    expect(headersFor('text/html; charset=utf-8', 'client', 'inline')).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'inline',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(headersFor('text/html', 'site')).toEqual({ 'content-type': 'text/html' });
    expect(headersFor('image/png, text/html', 'site')).toEqual({ 'content-type': 'application/octet-stream' });
  });
});
