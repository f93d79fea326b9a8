import { describeFuzz, eachRequest } from '@svc/testing';
import { expect } from 'vitest';
import { isSandboxId } from '../../domain/identifiers.ts';
import { directToEnvd, directToPort } from '../../e2b/envd/envd-host.ts';
import { requestHeaders } from './preview-headers.ts';
import { parsePlace, TOKEN_NAME, type PreviewPlace } from './preview-place.ts';

const DOMAIN = 'preview.test';
const PREFIX = '/e2b/envd';
const ID = 'abcdefghijklmnopqrstuvwxy2';
/** Names of cookies and headers that no program in a sandbox may see. */
const SECRET_COOKIE = /(?:^|;)\s*(?:__Host-|__Secure-)?svc[_-]/i;
const SECRET_HEADERS = ['e2b-traffic-access-token', 'x-csrf-token', 'forwarded', 'proxy-authorization', 'connection'];

/** The host as a URL has it; null if it is none. */
function hostOfUrl(host: string): string | null {
  try {
    return new URL(`http://${host}/`).hostname.replace(/\.$/, '');
  } catch {
    return null;
  }
}

function assertHost(place: Extract<PreviewPlace, { kind: 'host' }>): void {
  const { named, host, target } = place;
  expect(host.replace(/:\d+$/, '').replace(/\.$/, '')).toMatch(/(?:^|\.)preview\.test$/);
  expect(
    target
      .split('?')[1]
      ?.split('&')
      .some((pair) => pair.startsWith(`${TOKEN_NAME}=`)) ?? false,
  ).toBe(false);
  if (named === null) return;
  expect(isSandboxId(named.sandboxId)).toBe(true);
  expect(named.port >= 1 && named.port <= 65_535).toBe(true);
  expect(hostOfUrl(host.replace(/:\d+$/, ''))).toBe(`${named.port}-${named.sandboxId.slice('sbx_'.length)}.${DOMAIN}`);
}

describeFuzz({
  name: 'the hosts and paths of previews',
  corpus: new URL('./corpus/preview-place/', import.meta.url),
  seeds: [
    `GET /a?x=1&svc_preview=t HTTP/1.1\r\nHost: 3000-${ID}.preview.test:4000\r\nCookie: a=b; svc_preview=t\r\n\r\n`,
    `GET /preview/svc_pvw_t/a?b HTTP/1.1\r\nHost: platform.test\r\nCookie: a=b\r\nConnection: close\r\n\r\n`,
    `GET /preview/svc_pvw_t HTTP/1.1\r\nHost: platform.test\r\n\r\n`,
    `GET /files?path=a HTTP/1.1\r\nHost: 49983-${ID}.Preview.Test.\r\nE2b-Sandbox-Id: x\r\n\r\n`,
    `POST /e2b/envd/execute HTTP/1.1\r\nHost: a.test\r\nE2b-Sandbox-Id: sbx_${ID}\r\nE2b-Sandbox-Port: 49999\r\nX-Access-Token: s\r\nCookie: c\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: 65536-${ID}.preview.test\r\ne2b-traffic-access-token: t\r\nForwarded: for=a\r\n\r\n`,
    `GET http://3000-${ID}.preview.test/ HTTP/1.1\r\nHost: a\r\n\r\n`,
  ],
  dictionary: [
    'Host: ',
    '.preview.test',
    'preview.test',
    `3000-${ID}`,
    `49983-${ID}`,
    'sbx_',
    '/preview/',
    '/e2b/envd/',
    'svc_preview=',
    '&',
    '?',
    ':80',
    '.',
    '0',
    '65535',
    'E2b-Sandbox-Port: ',
    'E2b-Sandbox-Id: ',
    'Connection: e2b-sandbox-id\r\n',
    '\r\n',
    '%2e',
    'K',
  ],
  run: (input) =>
    eachRequest(input, (request) => {
      const asked = (): Pick<typeof request, 'headers' | 'rawHeaders' | 'url'> => ({
        headers: { ...request.headers },
        rawHeaders: [...request.rawHeaders],
        url: request.url,
      });
      const place = parsePlace(request, DOMAIN);
      if (place?.kind === 'host') assertHost(place);
      if (place?.kind === 'path')
        expect(`${place.prefix}${place.target ?? ''}`).toBe(
          request.url?.slice(0, place.prefix.length + (place.target ?? '').length),
        );
      if (place !== null) {
        const facts = { place, remoteAddress: '192.0.2.1', scheme: 'https', dropAuthorization: true } as const;
        const headers = requestHeaders(request.headers, facts);
        for (const name of [...SECRET_HEADERS, 'authorization']) expect(headers[name], name).toBe(undefined);
        expect(String(headers['cookie'] ?? '')).not.toMatch(SECRET_COOKIE);
        if (place.kind === 'path') expect(headers['cookie']).toBe(undefined);
      }
      const envd = asked();
      if (directToEnvd(envd, DOMAIN, PREFIX)) {
        // The same host as a preview's: only its port makes the difference.
        expect(place?.kind === 'host' ? place.named : null).toEqual({
          sandboxId: `sbx_${String(envd.headers['e2b-sandbox-id'])}`,
          port: 49_983,
        });
        expect(envd.url?.startsWith(`${PREFIX}/`)).toBe(true);
        expect(directToPort(envd, DOMAIN, PREFIX)).toBe(false);
      }
      const port = asked();
      if (!directToPort(port, DOMAIN, PREFIX)) return;
      for (const name of ['cookie', 'x-access-token', 'e2b-sandbox-id', 'e2b-sandbox-port'])
        expect([
          port.headers[name],
          port.rawHeaders.some((raw, at) => at % 2 === 0 && raw.toLowerCase() === name),
        ]).toEqual([undefined, false]);
      expect(port.url?.startsWith('/')).toBe(true);
      expect(directToEnvd(port, DOMAIN, PREFIX), 'the data plane').toBe(false);
      const led = parsePlace(port, DOMAIN);
      expect(led?.kind).toBe('host');
      if (led?.kind === 'host') assertHost(led);
    }),
});
