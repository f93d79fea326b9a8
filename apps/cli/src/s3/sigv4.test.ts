import { describe, expect, it } from 'vitest';
import { objectPath, presignQuery, renderQuery, signHeaders } from './sigv4.ts';

const KEY = { accessKeyId: 'tid_example', secretAccessKey: 'tsec_example' };
const NOW_MS = Date.parse('2026-11-21T15:00:00.500Z');
const request = { method: 'GET', host: '127.0.0.1:9000', path: '/bucket/key', query: {}, headers: {} };

describe('signatures', () => {
  it('cover the headers that are sent, and do not show the secret', () => {
    const signed = signHeaders(
      { ...request, headers: { 'X-Amz-Meta-B': ' two  words ', range: 'bytes=0-1' } },
      KEY,
      NOW_MS,
    );
    expect(signed['x-amz-date']).toBe('20261121T150000Z');
    expect(signed['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=tid_example\/20261121\/auto\/s3\/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date;x-amz-meta-b, Signature=[0-9a-f]{64}$/,
    );
    expect(JSON.stringify(signed)).not.toContain(KEY.secretAccessKey);
  });

  it('are others for another key, method, path, query or time', () => {
    const signatures = [
      presignQuery(request, KEY, { nowMs: NOW_MS, expiresSeconds: 60 }),
      presignQuery(request, { ...KEY, secretAccessKey: 'tsec_other' }, { nowMs: NOW_MS, expiresSeconds: 60 }),
      presignQuery({ ...request, method: 'PUT' }, KEY, { nowMs: NOW_MS, expiresSeconds: 60 }),
      presignQuery({ ...request, path: '/bucket/key2' }, KEY, { nowMs: NOW_MS, expiresSeconds: 60 }),
      presignQuery({ ...request, query: { versionId: 'a' } }, KEY, { nowMs: NOW_MS, expiresSeconds: 60 }),
      presignQuery(request, KEY, { nowMs: NOW_MS, expiresSeconds: 61 }),
      presignQuery(request, KEY, { nowMs: NOW_MS + 1000, expiresSeconds: 60 }),
    ].map((query) => query['X-Amz-Signature']);
    expect(new Set(signatures).size).toBe(signatures.length);
  });

  it('are made over names as they are, slashes kept and everything else of RFC 3986 escaped', () => {
    expect(objectPath('bucket', `a/../b//c (1)'*!~ü`)).toBe('/bucket/a/../b//c%20%281%29%27%2A%21~%C3%BC');
    expect(objectPath('bucket', undefined)).toBe('/bucket');
    expect(renderQuery({ b: '2', a: 'x y', 'a-': '', uploads: '' })).toBe('a=x%20y&a-=&b=2&uploads=');
  });
});
