import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import { requestHeaders, responseHeaders } from './preview-headers.ts';
import type { PreviewPlace } from './preview-place.ts';

const HOST = '3000-abcdefghijklmnopqrstuvwxyz.sandboxes.test';
const place: PreviewPlace = { kind: 'host', named: null, host: HOST, queryToken: null, target: '/' };
const facts = { place, remoteAddress: '192.0.2.1', scheme: 'https', dropAuthorization: false } as const;
const toProgram = (given: IncomingHttpHeaders) => requestHeaders({ host: HOST, ...given }, facts);

it('drops what `Connection` names, but neither the length of the body nor the host', () => {
  const headers = toProgram({
    connection: 'close, Content-Length,\thost, X-Private',
    'content-length': '4',
    'x-private': '1',
    'x-kept': '2',
  });
  // Without its length, the body would be read as the next request, with headers of the client's choice.
  expect(headers).toMatchObject({ host: HOST, 'content-length': '4', 'x-kept': '2' });
  expect([headers['connection'], headers['x-private']]).toEqual([undefined, undefined]);
});

it('keeps the token of the data plane from the program, but not a token of its own', () => {
  const token = `svc_sba_${'a'.repeat(26)}-${'B'.repeat(43)}`;
  expect(toProgram({ 'x-access-token': token })['x-access-token']).toBeUndefined();
  expect(toProgram({ 'x-access-token': `a, ${token}` })['x-access-token']).toBeUndefined();
  expect(toProgram({ 'x-access-token': 'its-own' })['x-access-token']).toBe('its-own');
});

it('says who the client is, whatever `Connection` and the client say', () => {
  const claimed = { 'x-forwarded-for': '10.0.0.1', 'x-forwarded-host': 'other.test', forwarded: 'for=10.0.0.1' };
  const headers = toProgram({ ...claimed, connection: 'x-forwarded-for, x-forwarded-host, x-forwarded-proto' });
  expect(headers).toMatchObject({
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-host': HOST,
    'x-forwarded-proto': 'https',
  });
  expect(headers['forwarded']).toBeUndefined();
});

it('keeps the isolation of a page on the host of the platform, whatever `Connection` of its program names', () => {
  const onPath: PreviewPlace = { kind: 'path', host: 'platform.test', token: 't', prefix: '/preview/t', target: '/' };
  const given = {
    connection: 'content-security-policy, x-content-type-options, content-length',
    'content-length': '2',
  };
  expect(responseHeaders(given, onPath, undefined)).toMatchObject({
    'content-security-policy': expect.stringMatching(/^sandbox /),
    'x-content-type-options': 'nosniff',
    'content-length': '2',
  });
});
