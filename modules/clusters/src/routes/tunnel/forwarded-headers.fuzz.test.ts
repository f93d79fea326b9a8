import type { IncomingMessage } from 'node:http';
import { isAppError } from '@svc/errors';
import { describeFuzz, eachRequest } from '@svc/testing';
import { expect } from 'vitest';
import { forwardedHeaders, isDroppedTrailer } from './forwarded-headers.ts';
import type { TunnelCaller } from './tunnel-access.ts';
import type { TunnelAddress } from './tunnel-address.ts';

const address = { form: 'host', cluster: 'cls-1', service: 'web', prefix: '/web', teamUuid: null };
const KUBERNETES = { ...address, service: 'kubernetes' };
const callers = { token: { via: 'token' }, link: { via: 'link' } };

/** Headers that would let the service act as its caller on the platform, or as another user in the cluster. */
const FORBIDDEN = /^(?:impersonate-.*|x-remote-.*|x-forwarded-(?!for$|host$|proto$|prefix$).*|x-real-ip|forwarded)$/i;

function assertHarmless(request: IncomingMessage, via: 'token' | 'link', to: typeof address): void {
  let headers: string[];
  try {
    headers = forwardedHeaders({
      request,
      address: to as TunnelAddress, // the fields that affect headers
      caller: callers[via] as TunnelCaller, // likewise
      remoteAddress: '192.0.2.1',
      protocol: 'https',
    });
  } catch (error) {
    if (isAppError(error) && error.status < 500) return;
    throw error;
  }
  const count = (wanted: string): number =>
    headers.filter((name, index) => index % 2 === 0 && name.toLowerCase() === wanted).length;
  for (let index = 0; index < headers.length; index += 2) {
    expect(headers[index]).not.toMatch(FORBIDDEN);
    if (headers[index]?.toLowerCase() === 'cookie')
      expect(headers[index + 1]).not.toMatch(/(?:^|;)\s*(?:__Host-|__Secure-)?svc_(?:session|tunnel|device)=/i);
  }
  if (via === 'token' || to.service === 'kubernetes') expect(count('authorization')).toBe(0);
  for (const once of ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix']) {
    expect(count(once)).toBe(1);
  }
  expect(count('host')).toBeLessThanOrEqual(1);
  expect(count('connection') + count('transfer-encoding') + count('upgrade')).toBe(0);
}

describeFuzz({
  name: 'the headers that pass through a tunnel',
  corpus: new URL('./corpus/forwarded-headers/', import.meta.url),
  seeds: [
    'GET /web HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer x\r\nCookie: a=b; svc_session=s\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nImpersonate-User: root\r\nX-Forwarded-For: 1\r\nConnection: close, host\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n0\r\nAuthorization: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX-Remote-User: root\r\nForwarded: for=1\r\nX-Real-IP: 1\r\n\r\n',
  ],
  dictionary: [
    'Authorization: Bearer x\r\n',
    'Impersonate-Group: system:masters\r\n',
    'X-Remote-Group: a\r\n',
    'Connection: x-forwarded-for\r\n',
    'Connection: authorization\r\n',
    'Cookie: svc_tunnel=t\r\n',
    '__Host-svc_session=s',
    'Host: b\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    '\r\n\r\n',
    '\r\n ',
  ],
  run: (input) =>
    eachRequest(input, (request) => {
      assertHarmless(request, 'token', address);
      assertHarmless(request, 'link', address);
      assertHarmless(request, 'link', KUBERNETES);
      for (const [name] of Object.entries(request.headers)) {
        if (FORBIDDEN.test(name) || name === 'authorization') expect(isDroppedTrailer(name)).toBe(true);
      }
    }),
});
