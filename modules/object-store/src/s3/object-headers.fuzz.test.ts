import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describeFuzz, orRefusal } from '@svc/testing';
import { expect } from 'vitest';
import { parseByteRange } from '../domain/byte-range.ts';
import { evaluateReadConditions } from '../domain/read-conditions.ts';
import { readDeclaration } from './auth/payload-declaration.ts';
import { assertDigests, digestsFor, readBodyPlan } from './body/body-plan.ts';
import { readAttributes } from './object-attributes.ts';
import { parseDeleteConditions, parseReadConditions, parseWriteConditions } from './request-conditions.ts';
import { RequestHeaders } from './request-headers.ts';
import type { S3Request } from './s3-request.ts';

const BODY = Buffer.from('hello');
const hash = (name: string): Buffer => createHash(name).update(BODY).digest();
const crc = Buffer.alloc(4);
crc.writeUInt32BE(crc32(BODY));
const DIGESTS = { MD5: hash('md5'), SHA1: hash('sha1'), SHA256: hash('sha256'), SHA512: hash('sha512'), CRC32: crc };
const SHA256 = DIGESTS.SHA256.toString('hex');
const NO_TRAILER = new Map<string, string>();

/** `Name: value` in each line, as Node's parser passes them on. */
function headersOf(input: Buffer): RequestHeaders {
  const lines = input.toString('latin1').split('\n');
  return new RequestHeaders(
    lines
      .filter((line) => /^[!#$%&'*+.^_`|~\w-]+:[^\r\n\0]*$/.test(line))
      .flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

describeFuzz({
  name: 'headers of uploads',
  corpus: new URL('./corpus/upload-headers/', import.meta.url),
  seeds: [
    `x-amz-content-sha256: ${SHA256}\ncontent-length: 5\ncontent-md5: ${DIGESTS.MD5.toString('base64')}`,
    `content-length: 5\nx-amz-checksum-sha256: ${DIGESTS.SHA256.toString('base64')}\nx-amz-sdk-checksum-algorithm: SHA256`,
    `x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\nx-amz-trailer: x-amz-checksum-crc32\nx-amz-decoded-content-length: 5\n=x-amz-checksum-crc32:${crc.toString('base64')}`,
    'x-amz-content-sha256: constructor\ncontent-length: 1e3\nx-amz-checksum-crc32: AAAAAA==\nx-amz-checksum-sha1: x',
    'content-type: image/png\nx-amz-meta-__proto__: a\nx-amz-meta-A: b\nx-amz-meta-a: c\nx-amz-tagging: a=b&c\ncache-control: no-store',
    'content-encoding: aws-chunked,gzip, ,br\nx-amz-storage-class: GLACIER\nx-amz-website-redirect-location: /x\nexpires: 0',
  ],
  dictionary: [
    'x-amz-content-sha256: ',
    'content-md5: ',
    'x-amz-checksum-',
    'x-amz-trailer: ',
    'x-amz-meta-',
    'content-length: ',
    'UNSIGNED-PAYLOAD',
    'STREAMING-',
    'constructor',
    '__proto__',
    '\n',
    ',',
    '=',
    '==',
    ' ',
    '%',
    '&',
    '\u00e9',
    'x-amz-checksum-crc32',
    'x-amz-decoded-content-length: 5',
  ],
  run: (input) => {
    const headers = headersOf(input);
    const attributes = orRefusal(() => readAttributes(headers, 2_048));
    if (attributes !== null) {
      const names = [...headers.names()].filter((name) => name.startsWith('x-amz-meta-'));
      expect(Object.keys(attributes.metadata ?? {}).toSorted()).toEqual(
        names.map((name) => name.slice('x-amz-meta-'.length)).toSorted(),
      );
    }
    orRefusal(() => parseWriteConditions(headers));
    orRefusal(() => parseDeleteConditions(headers));
    const declared = orRefusal(() => readDeclaration(headers.get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD'));
    if (declared === null) return;
    expect(['hash', 'unsigned', 'chunked']).toContain(declared.kind);
    const request = { headers } as S3Request; // nothing else is read
    const plan = orRefusal(() => readBodyPlan(request, declared));
    if (plan === null) return;
    expect(Number.isSafeInteger(plan.sizeBytes) && plan.sizeBytes >= 0).toBe(true);
    const needed = digestsFor(plan);
    const known = new Map(Object.entries(DIGESTS));
    if (![...needed].every((name) => known.has(name))) return;
    // The body is accepted if and only if everything that is declared about it is right.
    const trailer = new Map(
      input
        .toString('latin1')
        .split('\n')
        .filter((line) => line.startsWith('='))
        .map((line): [string, string] => [line.slice(1).split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)]),
    );
    const isAccepted = orRefusal(() => assertDigests(plan, DIGESTS, trailer) ?? true) !== null;
    const value =
      plan.checksum === null
        ? null
        : (plan.checksum.value ?? trailer.get(`x-amz-checksum-${plan.checksum.algorithm.toLowerCase()}`));
    const isRight =
      (plan.payload.kind !== 'hash' || plan.payload.sha256 === SHA256) &&
      (plan.md5 === null || plan.md5.equals(DIGESTS.MD5)) &&
      (plan.checksum === null || value === known.get(plan.checksum.algorithm)?.toString('base64'));
    expect(isAccepted).toBe(isRight);
    const unproved = orRefusal(() => assertDigests(plan, {}, NO_TRAILER) ?? true);
    expect(unproved !== null).toBe(needed.size === 0);
  },
});

/** RFC 9110, section 14.1.2, for one range. */
function expectedRange(header: string, sizeBytes: bigint): readonly [bigint, bigint] | 'whole' | 'outside' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = BigInt(last) < sizeBytes ? BigInt(last) : sizeBytes;
    return length === 0n ? 'outside' : [sizeBytes - length, sizeBytes];
  }
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole';
  if (BigInt(first) >= sizeBytes) return 'outside';
  return [BigInt(first), last === '' || BigInt(last) >= sizeBytes ? sizeBytes : BigInt(last) + 1n];
}

describeFuzz({
  name: 'ranges and conditions of reads',
  corpus: new URL('./corpus/read-headers/', import.meta.url),
  seeds: [
    'range: bytes=0-4\nif-match: "abc"',
    'range: bytes=-5\nif-none-match: *, W/"abc"',
    'range: bytes=999999999999999-\nif-modified-since: Sat, 01 Jan 2000 00:00:00 GMT',
    'range: bytes=4-2, 1-2\nif-unmodified-since: 2000-01-01',
    'range: BYTES=0-\nif-match: abc,"d,e"\nif-none-match: ',
  ],
  dictionary: [
    'range: bytes=',
    '-',
    '0',
    '999999999999999',
    ',',
    '"',
    'W/',
    '*',
    'if-match: ',
    'if-none-match: ',
    '"abc"',
    'GMT',
    '\n',
    ' ',
  ],
  run: (input) => {
    const headers = headersOf(input);
    const range = headers.get('range');
    for (const sizeBytes of [0, 1, 5, 5_000_000_000_000]) {
      const found = orRefusal(() => parseByteRange(range, sizeBytes) ?? 'whole');
      const expected = expectedRange(range ?? '', BigInt(sizeBytes));
      if (expected === 'outside') expect(found).toBeNull();
      else if (expected === 'whole') expect(found).toBe('whole');
      else expect(found).toEqual({ start: Number(expected[0]), endExclusive: Number(expected[1]) });
    }
    const conditions = parseReadConditions(headers);
    const evaluate = (etag: string, modifiedAtMs: number) => evaluateReadConditions(conditions, { etag, modifiedAtMs });
    for (const etag of ['abc', 'def']) {
      for (const modifiedAtMs of [0, 946_684_800_000, 4_000_000_000_000]) {
        const result = evaluate(etag, modifiedAtMs);
        const named = (header: string | undefined): boolean =>
          header?.includes(etag) === true || header?.includes('*') === true;
        if (result === 'not-modified' && conditions.ifNoneMatch !== undefined)
          expect(named(conditions.ifNoneMatch)).toBe(true);
        if (result !== 'failed' && conditions.ifMatch !== undefined) expect(named(conditions.ifMatch)).toBe(true);
        // A date counts only where there is no condition on the ETag.
        if (conditions.ifMatch !== undefined && conditions.ifNoneMatch !== undefined)
          expect(evaluate(etag, 0)).toBe(result);
      }
    }
  },
});
