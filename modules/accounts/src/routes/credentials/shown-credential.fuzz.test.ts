import type { IncomingHttpHeaders } from 'node:http';
import { cookieValues, PLATFORM_COOKIES } from '@svc/access';
import { describeFuzz, eachRequest } from '@svc/testing';
import { expect } from 'vitest';
import { shownCredential } from './shown-credential.ts';

/** The headers as Node's own parser reads them; none if it rejects them. */
async function parseHeaders(head: Buffer): Promise<IncomingHttpHeaders[]> {
  const seen: IncomingHttpHeaders[] = [];
  const message = Buffer.concat([Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n'), head, Buffer.from('\r\n\r\n')]);
  await eachRequest(message, ({ headers }) => void seen.push(headers));
  return seen;
}

describeFuzz({
  name: 'cookies and other credentials of a request',
  corpus: new URL('./corpus/shown-credential/', import.meta.url),
  seeds: [
    'Cookie: a=b; __Host-svc_session=strong; svc_session=plain',
    'Cookie: svc_session="quoted"; svc_session=; Svc_Session=x\r\nCookie: svc_device=d',
    'Authorization: Bearer svc_pat_abc',
    'Authorization: Basic YTpi\r\nCookie: svc_session=s',
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: v1, bearer.c3ZjX3BhdF94',
  ],
  dictionary: [
    'Cookie: ',
    'Authorization: ',
    'Bearer ',
    'svc_session=',
    '__Host-svc_session=',
    '; ',
    ';;',
    '=',
    '\r\n',
    ' svc_session',
    'bearer.',
    ',',
    '"',
    '\t',
    '\u00a0',
  ],
  run: async (input) => {
    for (const headers of await parseHeaders(input)) {
      const shown = shownCredential(headers, false);
      if (headers.authorization !== undefined) expect(['bearer', 'unreadable']).toContain(shown.kind);
      if (shown.kind === 'bearer') {
        expect(shown.token.length).toBeGreaterThan(0);
        expect(shown.token.length).toBeLessThanOrEqual(8192);
      }
      if (shown.kind === 'session') {
        expect(headers.authorization).toBe(undefined);
        expect(headers.cookie).toContain(`svc_session=${shown.secret}`);
      }
      const overTls = shownCredential(headers, true);
      if (overTls.kind === 'session') expect(headers.cookie).toContain(`__Host-svc_session=${overTls.secret}`);
      const device = cookieValues(headers.cookie, PLATFORM_COOKIES.device, false)[0];
      if (device !== undefined) expect(headers.cookie).toMatch(/(?:^|;)\s*(?:__Host-)?svc_device=/);
    }
  },
});
