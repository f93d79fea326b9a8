import { isAppError } from '@svc/errors';
import { parseAmzDate } from '@svc/s3-sign';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluatePolicy } from '../domain/access/policy/evaluate.ts';
import { parsePolicy } from '../domain/access/policy/parse-policy.ts';
import { parseByteRange } from '../domain/byte-range.ts';
import { parseTags } from '../domain/read-conditions.ts';
import { parseTagQuery } from '../domain/tags.ts';
import { parseAclDocument } from './access/acl-xml.ts';
import { readAclHeaders } from './access/requested-acl.ts';
import { readDeclaration } from './auth/payload-declaration.ts';
import { readClaim } from './auth/signature-claim.ts';
import { ChunkedDecoder } from './body/chunked-decoder.ts';
import { readCopySource } from './copy-source-header.ts';
import { assertFormAllowed, parseFormPolicy } from './form/form-policy.ts';
import { FormReader } from './form/form-reader.ts';
import { parseBoundary } from './form/form-request.ts';
import { parsePartHead } from './form/part-head.ts';
import { readAttributes } from './object-attributes.ts';
import { fromToken } from './page-parameters.ts';
import { RequestQuery } from './query.ts';
import { RequestHeaders } from './request-headers.ts';
import { parseTagging } from './tagging-document.ts';
import { childText, children, parseXml } from './xml-reader.ts';

/** A parser may reject any input, but only with a client error; it must not crash. */
function isRefusal(error: unknown): boolean {
  return isAppError(error) && error.status >= 400 && error.status < 500;
}

function survives(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** Any UTF-16 unit. Equivalent to fast-check's `unit: 'binary'`, which takes 20 seconds to initialize. */
const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code));

/** Mutations of a valid text: pieces removed, repeated, or replaced by meaningful or random ones. */
function near(right: string, pieces: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(right.length),
    cut: fc.nat(12),
    put: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8, unit: anyUnit }), fc.constant('')),
  });
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
    let text = right;
    for (const { at, cut, put } of edits) {
      const place = at % (text.length + 1);
      text = text.slice(0, place) + put + text.slice(place + cut);
    }
    return text;
  });
}

const SCOPE = 'tid_key/20260301/auto/s3/aws4_request';
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=${SCOPE}, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`;
const PRESIGNED = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}&X-Amz-Date=20260301T120000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=${'0'.repeat(64)}`;
const AUTH_PIECES = [',', ' ', '=', '/', ';', '&', '%', '%2F', '+', 'AWS ', 'Credential=', '-1', '20260231', '\0', 'é'];
const XML_PIECES = [
  '<',
  '>',
  '</',
  '/>',
  '&',
  '&#x0;',
  '&#xD800;',
  '&lt;',
  ']]>',
  '<![CDATA[',
  '<!--',
  '<?x?>',
  '<!DOCTYPE a>',
  ' xmlns="x"',
  '"',
  '<Grant>',
  '<__proto__>',
  '<constructor/>',
];
const JSON_PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  'null',
  '-1',
  '1e999',
  '"__proto__":',
  '"*"',
  '"Principal":',
  '${aws:userid}',
  '\\u0000',
];

const parseClaim = (headers: readonly string[], query: string): unknown =>
  readClaim(
    // `readClaim` reads nothing else of a request.
    { headers: new RequestHeaders(headers), query: new RequestQuery(query) } as Parameters<typeof readClaim>[0],
    ['auto'],
  );

const ACL =
  '<AccessControlPolicy><Owner><ID>a</ID></Owner><AccessControlList><Grant><Grantee xsi:type="Group"><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI></Grantee><Permission>READ</Permission></Grant></AccessControlList></AccessControlPolicy>';
const POLICY =
  '{"Version":"2012-10-17","Statement":[{"Sid":"s","Effect":"Allow","Principal":{"AWS":["*"]},"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::photos/*"],"Condition":{"StringLike":{"aws:Referer":["http://x/*"]},"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}]}';
const FORM_POLICY =
  '{"expiration":"2026-03-01T12:00:00.000Z","conditions":[{"bucket":"b"},["starts-with","$key","a/"],["content-length-range",0,10]]}';

describe('parsers of untrusted input', () => {
  it('survives any Authorization header and any query of a presigned URL', () => {
    const names = fc.constantFrom('authorization', 'Authorization', 'x-amz-date', 'date', 'host');
    fc.assert(
      fc.property(near(AUTHORIZATION, AUTH_PIECES), near(PRESIGNED, AUTH_PIECES), names, (header, query, name) => {
        survives(() => parseClaim(['Authorization', header, 'x-amz-date', '20260301T120000Z'], ''));
        survives(() => parseClaim(['authorization', header, name, header], ''));
        survives(() => parseClaim([], query));
        survives(() => parseAmzDate(header));
        survives(() => readDeclaration(header));
      }),
      { numRuns: 500 },
    );
  });

  it('reads a valid claim with any spacing around its commas', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(['host', 'range', 'x-amz-date'], { minLength: 1 }),
        fc.nat(3),
        (names, spaces) => {
          const gap = ' '.repeat(spaces);
          const header = `AWS4-HMAC-SHA256 SignedHeaders=${names.join(';')},${gap}Signature=ab,${gap}Credential=${SCOPE}`;
          expect(parseClaim(['Authorization', header, 'x-amz-date', '20260301T120000Z'], '')).toMatchObject({
            accessKeyId: 'tid_key',
            date: '20260301',
            region: 'auto',
            signature: 'ab',
            signedHeaders: names.toSorted(),
            timeMs: Date.UTC(2026, 2, 1, 12),
          });
        },
      ),
    );
  });

  it('survives any chunk framing, and never returns more than the frames contain', () => {
    const right = `2000\r\n${'a'.repeat(64)}\r\n5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`;
    const pieces = ['\r\n', '\n', '\r', '0\r\n', '0\r\n\r\n', ';chunk-signature=', 'ffffffffffff\r\n', '-', ':'];
    fc.assert(
      fc.property(near(right, pieces), fc.nat(200), (text, cut) => {
        let given = 0;
        const decoder = new ChunkedDecoder((chunk) => {
          given += chunk.length;
          return undefined;
        }, null);
        const bytes = Buffer.from(text, 'latin1');
        survives(() => {
          void decoder.push(bytes.subarray(0, cut));
          void decoder.push(bytes.subarray(cut));
          decoder.end();
        });
        expect(given).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 500 },
    );
  });

  it('survives any XML, and returns text', () => {
    fc.assert(
      fc.property(near(ACL, XML_PIECES), (document) => {
        survives(() => parseAclDocument(document));
        survives(() => parseTagging(document, 10));
        survives(() => {
          const root = parseXml(document, 'AccessControlPolicy');
          for (const child of children(root, 'Owner'))
            expect(typeof childText(child, 'ID')).toMatch(/string|undefined/);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('survives any policy, and allows only requests that a statement names', () => {
    const evaluated = (document: string): void => {
      const answer = evaluatePolicy(parsePolicy(document, 'photos'), {
        workspaceUuid: null,
        accessKeyId: null,
        action: 's3:DeleteObject',
        bucketName: 'photos',
        key: 'a',
        conditions: () => undefined,
      });
      if (!document.includes('*')) expect(answer).not.toBe('allow');
    };
    fc.assert(
      fc.property(near(POLICY, JSON_PIECES), fc.json({ maxDepth: 6 }), (document, json) => {
        survives(() => evaluated(document));
        survives(() => evaluated(json));
        survives(() => evaluated(`{"Statement":${json}}`));
        survives(() => evaluated(POLICY.replace('["*"]', json)));
        survives(() => evaluated(POLICY.replace('{"StringLike"', `{"${json.length}":{},"StringLike"`)));
      }),
      { numRuns: 500 },
    );
  });

  it('survives any form policy', () => {
    fc.assert(
      fc.property(near(FORM_POLICY, JSON_PIECES), fc.json({ maxDepth: 4 }), fc.string(), (document, json, text) => {
        for (const each of [document, json, `{"expiration":"2026-03-01T12:00:00Z","conditions":${json}}`]) {
          survives(() => {
            const policy = parseFormPolicy(Buffer.from(each).toString('base64'));
            assertFormAllowed(policy, new Map([['key', text]]), 0);
          });
        }
        survives(() => parseFormPolicy(text));
      }),
      { numRuns: 500 },
    );
  });

  it('survives any form', async () => {
    const right =
      '--x\r\nContent-Disposition: form-data; name="key"\r\n\r\nk\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nbytes\r\n--x--\r\n';
    const pieces = ['\r\n', '--x', '--x--', '\r\n--x', '"', '\\', ';', 'name=', 'filename*=', '\r\n\r\n', '\0'];
    await fc.assert(
      fc.asyncProperty(near(right, pieces), fc.nat(200), async (text, cut) => {
        const bytes = Buffer.from(text);
        const source = async function* (): AsyncGenerator<Buffer> {
          yield* [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0);
        };
        try {
          const form = new FormReader(source(), 'x');
          await form.fields();
          let given = 0;
          for await (const chunk of form.file()) given += chunk.length;
          expect(given).toBeLessThan(bytes.length);
        } catch (error) {
          if (!isRefusal(error)) throw error;
        }
        survives(() => parsePartHead(text));
        survives(() => parseBoundary(`multipart/form-data; boundary=${text}`));
      }),
      { numRuns: 100 },
    );
  });

  it('survives any header and any parameter', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyUnit }),
        near('id="a", uri="http://x", emailAddress="e@x"', ['"', ',', '=']),
        (text, grants) => {
          const latin = Buffer.from(text).toString('latin1');
          survives(() => new RequestQuery(text).parameters);
          survives(() => new RequestQuery(`a=${text}&${text}`).versionId());
          survives(() => parseByteRange(text, 100));
          survives(() => parseByteRange(`bytes=${text}`, 100));
          survives(() => parseTags(text));
          survives(() => parseTagQuery(text));
          survives(() => fromToken(text));
          survives(() => readAclHeaders((name) => (name === 'x-amz-grant-read' ? grants : undefined)));
          survives(() => readCopySource(new RequestHeaders(['x-amz-copy-source', latin])));
          survives(() => readAttributes(new RequestHeaders(['x-amz-meta-a', latin, 'x-amz-tagging', latin]), 2_048));
        },
      ),
      { numRuns: 500 },
    );
  });
});
