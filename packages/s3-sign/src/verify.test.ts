import { describe, expect, it } from 'vitest';
import { UNSIGNED_PAYLOAD, type CanonicalFields } from './canonical-request.ts';
import { createSigningCredential, signHeaders } from './sign.ts';
import { credentialScope } from './signing-key.ts';
import { sameSignature, verifySignature, type SignatureSeed } from './verify.ts';

const NOW_MS = Date.parse('2026-11-21T15:00:00Z');
const credential = createSigningCredential({ accessKeyId: 'tid_a', secretAccessKey: 'tsec_a' }, 'auto');

interface Sent {
  path: string;
  metadata: string;
}

/** Signs `signed`, and verifies that signature over `received`. */
function verifies(signed: Sent, received: Sent): boolean {
  const headers = { host: 'a', 'x-amz-meta-a': signed.metadata };
  const sent = signHeaders({ method: 'PUT', path: signed.path, headers }, credential, NOW_MS);
  const values: Record<string, string> = { ...sent.headers, 'x-amz-meta-a': received.metadata };
  const fields: CanonicalFields = {
    method: 'PUT',
    path: received.path,
    parameters: [],
    headers: { all: (name) => [values[name] ?? ''] },
    signedHeaders: ['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-meta-a'],
    payloadHash: UNSIGNED_PAYLOAD,
  };
  const seed: SignatureSeed = {
    signature: sent.signature,
    signingKey: credential.signingKey('20261121'),
    amzDate: '20261121T150000Z',
    scope: credentialScope('20261121', 'auto'),
  };
  return verifySignature(fields, seed);
}

describe('verification', () => {
  const sent = { path: '/b/k', metadata: 'value' };

  it('accepts what was signed, and nothing else', () => {
    expect(verifies(sent, sent)).toBe(true);
    expect(verifies(sent, { ...sent, path: '/b/k2' })).toBe(false);
    expect(verifies(sent, { ...sent, path: '/b/%zz' })).toBe(false);
    expect(verifies(sent, { ...sent, metadata: 'other' })).toBe(false);
  });

  it('accepts a path sent less encoded than it was signed, but not another path', () => {
    expect(verifies({ ...sent, path: '/b/%28x%29' }, { ...sent, path: '/b/(x)' })).toBe(true);
    expect(verifies({ ...sent, path: '/b/%28x%29' }, { ...sent, path: '/b/(y)' })).toBe(false);
  });

  it('accepts header values outside ASCII, signed as UTF-8 and received as UTF-8 or Latin-1', () => {
    const asReceived = Buffer.from('Zürich').toString('latin1');
    expect(verifies({ ...sent, metadata: 'Zürich' }, { ...sent, metadata: asReceived })).toBe(true);
    expect(verifies({ ...sent, metadata: 'Zürich' }, { ...sent, metadata: 'Zürich' })).toBe(true);
    expect(verifies({ ...sent, metadata: 'Zürich' }, { ...sent, metadata: 'Zurich' })).toBe(false);
  });

  it('takes a signature of another length for wrong, not for an exception', () => {
    expect(sameSignature('abc', 'abcd')).toBe(false);
    expect(sameSignature('', 'abcd')).toBe(false);
    expect(sameSignature('abcd', 'abcd')).toBe(true);
  });
});
