import { describe, expect, it } from 'vitest';
import { isOwnOrigin } from './shell-credentials.ts';

const host = 'internal.example:4443';

describe('the origin of a shell', () => {
  it.each([
    [{ host }, true, true],
    [{ host, origin: 'https://internal.example:4443' }, true, true],
    [{ host, origin: 'https://svc.example' }, true, true],
    [{ host, origin: 'http://internal.example:4443' }, false, true],
    // A page served without TLS can be forged, even under our own name.
    [{ host, origin: 'http://internal.example:4443' }, true, false],
    [{ host, origin: 'https://preview.svc.example' }, true, false],
    [{ host, origin: 'null' }, false, false],
  ])('%j over TLS (%s) is same-origin: %s', (headers, isSecure, own) => {
    expect(isOwnOrigin(headers, 'https://svc.example', isSecure)).toBe(own);
  });
});
