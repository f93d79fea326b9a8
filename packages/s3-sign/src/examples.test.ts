import { describe, expect, it } from 'vitest';
import { toAmzDate } from './amz-date.ts';
import { EMPTY_SHA256, toQueryParameters } from './canonical-request.ts';
import { createSigningCredential, presignUrl, signHeaders } from './sign.ts';

// The worked examples of the S3 API reference, "Signature Calculations for the Authorization Header" and "Using Query
// Parameters", with the published example key.
const CREDENTIAL = createSigningCredential(
  { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  'us-east-1',
);
const NOW_MS = Date.UTC(2013, 4, 24);
const HOST = 'examplebucket.s3.amazonaws.com';

interface Example {
  method: string;
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  payloadHash: string;
}

describe('signatures', () => {
  it.each<[string, Example, string]>([
    [
      'GET with a range',
      {
        method: 'GET',
        path: '/test.txt',
        query: {},
        headers: { Range: 'bytes=0-9' },
        payloadHash: EMPTY_SHA256,
      },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT of an object',
      {
        method: 'PUT',
        path: '/test%24file.text',
        query: {},
        headers: {
          Date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
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
        query: { lifecycle: '' },
        headers: {},
        payloadHash: EMPTY_SHA256,
      },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'a listing with parameters out of order',
      {
        method: 'GET',
        path: '/',
        query: { prefix: 'J', 'max-keys': '2' },
        headers: {},
        payloadHash: EMPTY_SHA256,
      },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('agree with the published example of %s', (_name, { query, headers, ...example }, expected) => {
    const request = { ...example, parameters: toQueryParameters(query), headers: { Host: HOST, ...headers } };
    expect(signHeaders(request, CREDENTIAL, NOW_MS).signature).toBe(expected);
  });

  it('agree with the published example of a presigned URL', () => {
    const url = presignUrl(
      { method: 'GET', endpoint: `https://${HOST}`, path: '/test.txt', expiresSeconds: 86_400 },
      CREDENTIAL,
      NOW_MS,
    );
    expect(url).toBe(
      `https://${HOST}/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=${toAmzDate(NOW_MS)}&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
    );
  });
});
