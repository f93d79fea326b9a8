import { expect, it } from 'vitest';
import { shownCredential } from './shown-credential.ts';

const encoded = Buffer.from('svc_pat_x').toString('base64url');

it.each([
  [{}, { kind: 'none' }],
  [{ authorization: 'Bearer abc' }, { kind: 'bearer', token: 'abc' }],
  [{ authorization: 'bearer   abc ' }, { kind: 'bearer', token: 'abc' }],
  [{ authorization: 'Basic abc' }, { kind: 'unreadable' }],
  [{ authorization: 'Bearer a b' }, { kind: 'unreadable' }],
  [{ authorization: `Bearer ${'a'.repeat(9000)}` }, { kind: 'unreadable' }],
  [{ authorization: '', cookie: 'svc_session=s' }, { kind: 'unreadable' }],
  [{ cookie: 'a=b; svc_session=s; c=d' }, { kind: 'session', secret: 's' }],
  [{ cookie: 'svc_session=plain; __Host-svc_session=strong' }, { kind: 'session', secret: 'strong' }],
  [{ cookie: 'not_svc_session=s; svc_session=' }, { kind: 'none' }],
  [
    { upgrade: 'websocket', 'sec-websocket-protocol': `sandbox.v1, bearer.${encoded}` },
    { kind: 'bearer', token: 'svc_pat_x' },
  ],
  [{ 'sec-websocket-protocol': `bearer.${encoded}` }, { kind: 'none' }],
  [
    { upgrade: 'websocket', 'sec-websocket-protocol': 'sandbox.v1', cookie: 'svc_session=s' },
    { kind: 'session', secret: 's' },
  ],
])('parses %j', (headers, expected) => {
  expect(shownCredential(headers, false)).toEqual(expected);
});

it.each([
  [{ cookie: 'svc_session=planted' }, { kind: 'none' }],
  [{ cookie: 'svc_session=planted; __Host-svc_session=own' }, { kind: 'session', secret: 'own' }],
  [{ upgrade: 'websocket', cookie: 'svc_session=planted' }, { kind: 'none' }],
])('over TLS accepts only cookies that no other host can set: %j', (headers, expected) => {
  expect(shownCredential(headers, true)).toEqual(expected);
});
