import { describe, expect, it } from 'vitest';
import { isTrustedOrigin, subprotocolToken } from './websocket.ts';

const host = 'svc.example';

describe('the origin of a WebSocket', () => {
  it.each([
    [{ host }, true, true],
    [{ host, origin: 'https://svc.example' }, true, true],
    [{ host, origin: 'http://svc.example' }, false, true],
    // A proxy that terminates TLS without reporting it.
    [{ host, origin: 'https://svc.example' }, false, true],
    // A page loaded without TLS is untrusted, even under our own name.
    [{ host, origin: 'http://svc.example' }, true, false],
    [{ host, origin: 'https://preview.svc.example' }, true, false],
    [{ host, origin: 'https://svc.example:8443' }, true, false],
    [{ host, origin: 'null' }, false, false],
    [{ host, origin: 'https://configured.example' }, true, true],
    [{ host, origin: 'https://other.example', authorization: 'Bearer x' }, true, true],
  ])('%j over TLS (%s) is allowed: %s', (headers, isSecure, allowed) => {
    expect(isTrustedOrigin(headers, ['https://configured.example'], isSecure)).toBe(allowed);
  });
});

describe('the token of a WebSocket', () => {
  const upgrade = 'websocket';
  it.each([
    [{ upgrade, 'sec-websocket-protocol': 'v1, bearer.c3ZjX3BhdF94' }, 'svc_pat_x'],
    [{ upgrade: 'WebSocket', 'sec-websocket-protocol': 'bearer.c3ZjX3BhdF94, bearer.eA' }, 'svc_pat_x'],
    [{ upgrade, 'sec-websocket-protocol': 'bearer.c' }, ''],
    [{ upgrade, 'sec-websocket-protocol': 'v1, bearer.' }, undefined],
    [{ upgrade }, undefined],
    [{ 'sec-websocket-protocol': 'bearer.c3ZjX3BhdF94' }, undefined],
  ])('of %j is %s', (headers, token) => {
    expect(subprotocolToken(headers)).toBe(token);
  });
});
