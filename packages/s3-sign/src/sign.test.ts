import { describe, expect, it } from 'vitest';
import { canonicalQuery, toQueryParameters } from './canonical-request.ts';
import { createSigningCredential, presignUrl, signHeaders } from './sign.ts';

const KEY = { accessKeyId: 'tid_example', secretAccessKey: 'tsec_example' };
const NOW_MS = Date.parse('2026-11-21T15:00:00.500Z');
const credential = createSigningCredential(KEY, 'auto');
const request = { method: 'GET', path: '/bucket/key', headers: { host: '127.0.0.1:9000' } };
const wanted = { method: 'GET', endpoint: 'http://127.0.0.1:9000', path: '/bucket/key', expiresSeconds: 60 };

describe('a signed request', () => {
  it('has all headers signed under lower-case names, and does not show the secret', () => {
    const given = { ...request.headers, 'X-Amz-Meta-B': ' two  words ', range: 'bytes=0-1' };
    const { headers, signature } = signHeaders({ ...request, headers: given }, credential, NOW_MS);
    expect(headers).toMatchObject({ 'x-amz-date': '20261121T150000Z', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' });
    expect(headers['authorization']).toBe(
      `AWS4-HMAC-SHA256 Credential=tid_example/20261121/auto/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date;x-amz-meta-b, Signature=${signature}`,
    );
    expect(JSON.stringify(headers)).not.toContain(KEY.secretAccessKey);
  });

  it('keeps headers out of the signature on request', () => {
    const given = { ...request.headers, 'User-Agent': 'a' };
    const wantedHeaders = { ...request, headers: given, unsignedHeaders: ['user-agent'] };
    const { headers, signature } = signHeaders(wantedHeaders, credential, NOW_MS);
    expect(headers['user-agent']).toBe('a');
    expect(signature).toBe(signHeaders(request, credential, NOW_MS).signature);
  });

  it('gets a new key for each day', () => {
    const dayMs = 24 * 60 * 60 * 1_000;
    const fresh = createSigningCredential(KEY, 'auto');
    for (const nowMs of [NOW_MS, NOW_MS + dayMs, NOW_MS]) {
      const expected = signHeaders(request, createSigningCredential(KEY, 'auto'), nowMs);
      expect(signHeaders(request, fresh, nowMs)).toEqual(expected);
    }
  });
});

describe('a presigned URL', () => {
  it('has a different signature for another key, region, method, path, query, header, or time', () => {
    const urls = [
      presignUrl(wanted, credential, NOW_MS),
      presignUrl(wanted, createSigningCredential({ ...KEY, secretAccessKey: 'tsec_other' }, 'auto'), NOW_MS),
      presignUrl(wanted, createSigningCredential(KEY, 'us-east-1'), NOW_MS),
      presignUrl({ ...wanted, method: 'PUT' }, credential, NOW_MS),
      presignUrl({ ...wanted, path: '/bucket/key2' }, credential, NOW_MS),
      presignUrl({ ...wanted, parameters: [{ name: 'versionId', value: 'a' }] }, credential, NOW_MS),
      presignUrl({ ...wanted, headers: { 'content-length': '3' } }, credential, NOW_MS),
      presignUrl({ ...wanted, expiresSeconds: 61 }, credential, NOW_MS),
      presignUrl(wanted, credential, NOW_MS + 1_000),
    ];
    const signatures = urls.map((url) => new URL(url).searchParams.get('X-Amz-Signature'));
    expect(new Set(signatures).size).toBe(urls.length);
  });

  it('keeps the path of its endpoint', () => {
    const url = presignUrl({ ...wanted, endpoint: 'https://s3.example/base/' }, credential, NOW_MS);
    expect(url.slice(0, url.indexOf('?'))).toBe('https://s3.example/base/bucket/key');
  });
});

describe('a canonical query', () => {
  it('is escaped and sorted by byte', () => {
    const query = { b: '2', a: 'x y', 'a-': '', uploads: '' };
    expect(canonicalQuery(toQueryParameters(query))).toBe('a=x%20y&a-=&b=2&uploads=');
  });
});
