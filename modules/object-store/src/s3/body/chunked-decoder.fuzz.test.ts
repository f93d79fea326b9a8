import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { ChunkedDecoder } from './chunked-decoder.ts';

/** Returns the decoded body, or the error code. */
function decode(pieces: readonly Buffer[]): { bytes: string; trailer: [string, string][] } | string {
  const out: Buffer[] = [];
  const decoder = new ChunkedDecoder((chunk) => void out.push(Buffer.from(chunk)), null);
  try {
    for (const piece of pieces) void decoder.push(piece);
    decoder.end();
  } catch (error) {
    if (isAppError(error) && error.status < 500) return error.code;
    throw error;
  }
  return { bytes: Buffer.concat(out).toString('hex'), trailer: [...decoder.trailer] };
}

/** Returns the content length by a plain reading of the frame sizes. */
function lengthOfFrames(bytes: Buffer): number {
  let total = 0;
  let at = 0;
  for (;;) {
    const feed = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, feed), 16);
    if (size === 0) return total;
    total += size;
    at = feed + 2 + size + 2;
  }
}

const signature = 'a'.repeat(64);

describeFuzz({
  name: 'the S3 chunked decoder',
  corpus: new URL('./corpus/chunked-decoder/', import.meta.url),
  seeds: [
    '0\r\n\r\n',
    '5\r\nhello\r\n0\r\n\r\n',
    `5;chunk-signature=${signature}\r\nhello\r\n0;chunk-signature=${signature}\r\n\r\n`,
    '3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\nx-amz-trailer-signature:00\r\n\r\n',
    Buffer.concat([Buffer.from('2000\r\n'), Buffer.alloc(0x2000, 'x'), Buffer.from('\r\n1\r\ny\r\n0\r\n\r\n')]),
  ],
  dictionary: ['\r\n', '0\r\n', '\r\n0\r\n\r\n', ';chunk-signature=', ':', 'ffffffffffff', '2000\r\n', '-1', '0x', ' '],
  maxBytes: 10_000,
  run: (input) => {
    const whole = decode([input]);
    expect(decode(Array.from({ length: input.length }, (_, at) => input.subarray(at, at + 1)))).toEqual(whole);
    if (typeof whole !== 'string') expect(whole.bytes.length / 2).toBe(lengthOfFrames(input));
  },
});
