import { createSecretKey } from 'node:crypto';
import { isAppError } from '@svc/errors';
import type { Forwarded, Hop } from '@svc/http';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { HOP_HEADER, HopSignature, type SignedRequest } from './hop.ts';
import { isCertificateOf, replicaUri } from './peer-identity.ts';

const NOW_MS = 1_800_000_000_000;
const [hopKey, oldKey, foreignKey] = ['new', 'old', 'foreign'].map((name) => createSecretKey(Buffer.from(name)));

function signatureOf(self: string, key = hopKey, atMs = NOW_MS): HopSignature {
  if (key === undefined || hopKey === undefined || oldKey === undefined) throw new Error('unreachable');
  return new HopSignature({ keys: () => ({ hopKey: key, hopKeys: [hopKey, oldKey] }), self, nowMs: () => atMs });
}

const receiver = signatureOf('here');
const forwarded = {
  owned: { kind: 'sandbox', id: 'sbx_a', workspaceUuid: 'w' },
  granted: { action: 'sandbox:exec', credential: { kind: 'token', principalId: 'p' }, grant: null },
  client: { remoteAddress: '192.0.2.1', isSecure: true },
} as unknown as Omit<Forwarded, 'requestId'>; // the signature carries it as it is

/** An input: header, method, path and host, each in a line. */
const inputOf = (header: string, { method, url, headers }: SignedRequest): string =>
  [header, method, url, headers.host].join('\n');

const request = { method: 'GET', url: '/v1/sandboxes/sbx_a?x=1', headers: { host: 'a.test' } };
const other = { method: 'POST', url: '/', headers: { host: 'b.test' } };
/** What replicas signed, by header. */
const SIGNED = new Map([
  [signatureOf('there').sign(request, 'here', forwarded), request],
  [signatureOf('there', oldKey).sign(other, 'here', forwarded), other],
]);
const REFUSED = new Map([
  [signatureOf('there').sign(request, 'elsewhere', forwarded), request],
  [signatureOf('stranger').sign(request, 'here', forwarded), request],
  [signatureOf('there', foreignKey).sign(request, 'here', forwarded), request],
  [signatureOf('there', hopKey, NOW_MS - 10_001).sign(request, 'here', forwarded), request],
  [signatureOf('there', hopKey, NOW_MS + 10_001).sign(request, 'here', forwarded), request],
]);

/** The signed text and its signature, as bytes: the same in every spelling of base64. */
function partsOf(header: string): Buffer {
  const [text = '', mac = ''] = header.split('.');
  return Buffer.concat([Buffer.from(`${text}.`), Buffer.from(mac, 'base64url')]);
}

function verify(header: string, asked: SignedRequest): Hop | null {
  try {
    const headers = { ...asked.headers, [HOP_HEADER]: header };
    return receiver.verify({ ...asked, headers }, (replica) => replica === 'there');
  } catch (error) {
    if (isAppError(error) && (error.code === 'HOP_REFUSED' || error.code === 'HOP_EXPIRED')) return null;
    throw error;
  }
}

describeFuzz({
  name: 'what a replica states about a request that it forwards',
  corpus: new URL('./corpus/hop/', import.meta.url),
  seeds: [...SIGNED, ...REFUSED].map(([header, asked]) => inputOf(header, asked)),
  dictionary: ['.', '..', 'GET', '\n', '=', '-', '_', '{}', Buffer.from('{"to":"here"}').toString('base64url'), 'here'],
  run: (input) => {
    const [header = '', method = '', url = '', host = ''] = input.toString('latin1').split('\n');
    const hop = verify(header, { method, url, headers: { host } });
    if (hop === null) return;
    // Only what was signed is accepted, for exactly this request.
    const parts = partsOf(header);
    const [, asked] = [...SIGNED].find(([each]) => partsOf(each).equals(parts)) ?? [];
    expect([method, url, host], header).toEqual([asked?.method, asked?.url, asked?.headers.host]);
    expect(hop).toEqual({ replica: 'there', ...forwarded });
  },
});

describeFuzz({
  name: 'the names of replicas in certificates',
  corpus: new URL('./corpus/peer-identity/', import.meta.url),
  seeds: ['here\nURI:urn:svc:replica:here', 'a, URI:b\nURI:urn:svc:replica:a, URI:b', 'é/%\nURI:urn:svc:replica:é/%'],
  dictionary: ['URI:', 'urn:svc:replica:', ', ', 'DNS:', '%2C', '%', '"', '\n'],
  run: (input) => {
    const [replica = '', names = ''] = input.toString('utf8').split('\n');
    expect(isCertificateOf(replica, `URI:${replicaUri(replica)}`)).toBe(true);
    // A certificate is of at most one replica, whatever other names it has.
    expect(replicaUri(replica)).not.toMatch(/[\s,"]/);
    if (isCertificateOf(replica, names)) expect(names).toBe(`URI:${replicaUri(replica)}`);
    expect(isCertificateOf(`${replica}x`, `URI:${replicaUri(replica)}`)).toBe(false);
  },
});
