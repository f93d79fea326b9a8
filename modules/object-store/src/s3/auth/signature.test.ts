import { describe, expect, it } from 'vitest';
import { deriveSigningKey } from '../../domain/credential-cache.ts';
import { RequestQuery } from '../query.ts';
import { RequestHeaders } from '../request-headers.ts';
import { canonicalRequest, stringToSign } from './canonical-request.ts';
import { canonicalPath, uriEncode } from './uri-encode.ts';
import { sameSignature } from './verify.ts';

// The worked examples of the S3 API reference, "Signature Calculations for the Authorization Header" and "Using Query
// Parameters", with the published example key.
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const AMZ_DATE = '20130524T000000Z';
const SCOPE = '20130524/us-east-1/s3/aws4_request';

interface Example {
  method: string;
  path: string;
  query: string;
  headers: Record<string, string>;
  payloadHash: string;
}

function signatureOf({ method, path, query, headers, payloadHash }: Example): string {
  const canonical = canonicalRequest({
    method,
    path,
    parameters: new RequestQuery(query).parameters,
    headers: new RequestHeaders(Object.entries(headers).flat()),
    signedHeaders: Object.keys(headers)
      .map((name) => name.toLowerCase())
      .toSorted(),
    payloadHash,
  });
  return deriveSigningKey(SECRET, '20130524', 'us-east-1').sign(stringToSign(AMZ_DATE, SCOPE, canonical));
}

const host = { Host: 'examplebucket.s3.amazonaws.com' };
const common = { ...host, 'x-amz-date': AMZ_DATE };

describe('signatures', () => {
  it.each<[string, Example, string]>([
    [
      'GET with a range',
      {
        method: 'GET',
        path: '/test.txt',
        query: '',
        headers: { ...common, Range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY },
        payloadHash: EMPTY,
      },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT of an object',
      {
        method: 'PUT',
        path: '/test%24file.text',
        query: '',
        headers: {
          ...common,
          Date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
          'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        },
        payloadHash: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET of a sub-resource',
      {
        method: 'GET',
        path: '/',
        query: 'lifecycle',
        headers: { ...common, 'x-amz-content-sha256': EMPTY },
        payloadHash: EMPTY,
      },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'a listing with parameters out of order',
      {
        method: 'GET',
        path: '/',
        query: 'prefix=J&max-keys=2',
        headers: { ...common, 'x-amz-content-sha256': EMPTY },
        payloadHash: EMPTY,
      },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
    [
      'a presigned URL',
      {
        method: 'GET',
        path: '/test.txt',
        query:
          'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host',
        headers: host,
        payloadHash: 'UNSIGNED-PAYLOAD',
      },
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    ],
  ])('agrees with the published example of %s', (_name, example, expected) => {
    expect(signatureOf(example)).toBe(expected);
  });

  it('encodes as AWS does: slashes of a key too, but not the unreserved characters', () => {
    expect(uriEncode("a/b c+~'()*!é")).toBe('a%2Fb%20c%2B~%27%28%29%2A%21%C3%A9');
    expect(canonicalPath('/b/a%2fb/c d/(x)')).toBe('/b/a%2Fb/c%20d/%28x%29');
    expect(canonicalPath('/b/%zz')).toBeNull();
  });

  it('takes a signature of another length for wrong, not for an exception', () => {
    expect(sameSignature('abc', 'abcd')).toBe(false);
    expect(sameSignature('', 'abcd')).toBe(false);
    expect(sameSignature('abcd', 'abcd')).toBe(true);
  });
});
