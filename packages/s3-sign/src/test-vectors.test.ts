import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalRequest, stringToSign } from './canonical-request.ts';
import { credentialScope, deriveSigningKey } from './signing-key.ts';
import { canonicalPath } from './uri-encode.ts';

// AWS's "Signature Version 4 test suite", for its imaginary service; those of its examples that S3 signs the same way.
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const AMZ_DATE = '20150830T123600Z';
const SCOPE = ['20150830', 'us-east-1', 'service'] as const;

interface Vector {
  method?: string;
  target?: string;
  headers?: readonly string[];
  body?: string;
}

const VECTORS: readonly (readonly [name: string, vector: Vector, signature: string])[] = [
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    { target: '/?Param2=value2&Param1=value1' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-empty-query-key',
    { target: '/?Param1=value1' },
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  [
    'get-vanilla-query-unreserved',
    {
      target:
        '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    },
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  ['get-vanilla-utf8-query', { target: '/?ሴ=bar' }, '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
  [
    'get-unreserved',
    { target: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' },
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  ['get-utf8', { target: '/ሴ' }, '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  [
    'get-header-key-duplicate',
    { headers: ['My-Header1', 'value2', 'My-Header1', 'value2', 'My-Header1', 'value1'] },
    'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  ],
  [
    'get-header-value-order',
    { headers: ['My-Header1', 'value4', 'My-Header1', 'value1', 'My-Header1', 'value3', 'My-Header1', 'value2'] },
    '08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01',
  ],
  [
    'get-header-value-trim',
    { headers: ['My-Header1', ' value1', 'My-Header2', ' "a   b   c"'] },
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-vanilla-query',
    { method: 'POST', target: '/?Param1=value1' },
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
  [
    'post-header-key-sort',
    { method: 'POST', headers: ['My-Header1', 'value1'] },
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
  [
    'post-header-value-case',
    { method: 'POST', headers: ['My-Header1', 'VALUE1'] },
    'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  ],
  [
    'post-x-www-form-urlencoded',
    { method: 'POST', headers: ['Content-Type', 'application/x-www-form-urlencoded'], body: 'Param1=value1' },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
];

function signatureOf({ method = 'GET', target = '/', headers = [], body = '' }: Vector): string {
  const [path = '', query = ''] = target.split('?', 2);
  const values = new Map<string, string[]>([
    ['host', ['example.amazonaws.com']],
    ['x-amz-date', [AMZ_DATE]],
  ]);
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]?.toLowerCase() ?? '';
    values.set(name, [...(values.get(name) ?? []), headers[index + 1] ?? '']);
  }
  const canonical = canonicalRequest({
    method,
    path: canonicalPath(path) ?? '',
    parameters: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
    headers: { all: (name) => values.get(name) ?? [] },
    signedHeaders: [...values.keys()].toSorted(),
    payloadHash: hash('sha256', body),
  });
  const [date, region, service] = SCOPE;
  const text = stringToSign(AMZ_DATE, credentialScope(date, region, service), canonical);
  return deriveSigningKey(SECRET, date, region, service).sign(text);
}

describe('the published test suite of Signature Version 4', () => {
  it.each(VECTORS)('%s', (_name, vector, signature) => {
    expect(signatureOf(vector)).toBe(signature);
  });
});
