import { createHash, hash } from 'node:crypto';
import { credentialScope, deriveSigningKey, SigningKey, type SignatureSeed } from '@svc/s3-sign';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { ChunkSignatures } from './chunk-signatures.ts';

function decode(pieces: readonly Uint8Array[], decoder?: (consume: (chunk: Buffer) => undefined) => ChunkedDecoder) {
  const out: Buffer[] = [];
  const consume = (chunk: Buffer): undefined => {
    out.push(chunk);
  };
  const made = decoder?.(consume) ?? new ChunkedDecoder(consume, null);
  for (const piece of pieces) void made.push(Buffer.from(piece));
  made.end();
  return { bytes: Buffer.concat(out), trailer: made.trailer };
}

function frame(chunks: readonly Uint8Array[], trailer = ''): Buffer {
  const parts = [...chunks, new Uint8Array(0)].map((chunk, index) =>
    Buffer.concat([
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from(index === chunks.length ? '' : '\r\n'),
    ]),
  );
  return Buffer.concat([...parts, Buffer.from(`${trailer}\r\n`)]);
}

/** Enlarges every chunk but the last one to S3's minimum. */
function enlarged(chunks: readonly Uint8Array[]): Buffer[] {
  return chunks.map((chunk, index) => (index + 1 < chunks.length ? Buffer.alloc(8_192, chunk) : Buffer.from(chunk)));
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('ChunkedDecoder', () => {
  it('decodes the same bytes for any split into frames and packets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 6 }),
        fc.array(fc.nat(50_000), { maxLength: 12 }),
        (seeds, cuts) => {
          const chunks = enlarged(seeds);
          const { bytes, trailer } = decode(cutAt(frame(chunks, 'x-amz-checksum-crc32:AAAAAA==\r\n'), cuts));
          expect(bytes).toEqual(Buffer.concat(chunks));
          expect([...trailer]).toEqual([['x-amz-checksum-crc32', 'AAAAAA==']]);
        },
      ),
    );
  });

  it('releases a chunk once all of its content is released', () => {
    const held: (() => void)[] = [];
    const decoder = new ChunkedDecoder((_chunk, release) => {
      if (release !== undefined) held.push(release);
      return undefined;
    }, null);
    let released = 0;
    const body = frame([Buffer.alloc(8_192, 'a'), Buffer.from('b')]);
    for (const piece of [body.subarray(0, 100), body.subarray(100)]) void decoder.push(piece, () => (released += 1));
    decoder.end();
    expect([held.length, released]).toEqual([3, 0]);
    held[0]?.();
    held[2]?.();
    expect(released).toBe(1);
    held[1]?.();
    expect(released).toBe(2);
  });

  it('never decodes garbage as a complete body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (garbage) => {
        if (Buffer.from(garbage).toString('latin1').startsWith('0')) return;
        const text = Buffer.from(garbage).toString('latin1');
        if (/^[0-9a-fA-F]{1,12}\r\n/.test(text)) return; // may be valid by chance
        expect(() => decode([garbage])).toThrow(expect.objectContaining({ status: 400 }));
      }),
    );
  });

  it('rejects every truncated body', () => {
    const whole = frame([Buffer.from('hello world')], 'x-amz-checksum-crc32:AAAAAA==\r\n');
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => decode([whole.subarray(0, length)])).toThrow(expect.objectContaining({ code: 'IncompleteBody' }));
    }
  });

  it.each([
    ['something after the end', '0\r\n\r\nx'],
    ['a chunk longer than it said', '2\r\nabc\r\n0\r\n\r\n'],
    ['a size that is no number', 'zz\r\n\r\n'],
    ['a negative size', '-1\r\n\r\n'],
    ['a size beyond all bounds', 'ffffffffffffffff\r\n'],
    ['a line without its carriage return', '1\na\r\n0\r\n\r\n'],
    ['an endless size line', 'a'.repeat(5_000)],
    ['an endless trailer', `0\r\n${'x:y\r\n'.repeat(5_000)}`],
    ['a trailing header twice', '0\r\na:1\r\na:2\r\n\r\n'],
    ['a trailing header without a name', '0\r\n:1\r\n\r\n'],
  ])('rejects %s', (_what, text) => {
    expect(() => decode([Buffer.from(text)])).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('rejects small chunks before the last one, with InvalidChunkSizeError', () => {
    for (const sizes of [
      [10, 10],
      [8_191, 8_192],
      [8_192, 100, 100],
    ]) {
      expect(() => decode([frame(sizes.map((size) => Buffer.alloc(size)))])).toThrow(
        expect.objectContaining({ status: 400, code: 'InvalidChunkSizeError' }),
      );
    }
    expect(decode([frame([8_192, 9_000, 1].map((size) => Buffer.alloc(size)))]).bytes.length).toBe(17_193);
  });

  it('matches AWS’s example of signed chunks, and rejects any changed byte of a signature or of data', () => {
    // S3 API reference, "Transferring Payload in Multiple Chunks": 65,536 + 1,024 bytes of `a`.
    const seed: SignatureSeed = {
      signature: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
      signingKey: deriveSigningKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '20130524', 'us-east-1'),
      amzDate: '20130524T000000Z',
      scope: credentialScope('20130524', 'us-east-1'),
    };
    const signatures = [
      'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
      '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
      'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    ];
    const body = Buffer.from(
      [65_536, 1_024, 0]
        .map((size, index) => `${size.toString(16)};chunk-signature=${signatures[index]}\r\n${'a'.repeat(size)}\r\n`)
        .join(''),
    );
    const run = (bytes: Buffer) =>
      decode([bytes], (consume) => new ChunkedDecoder(consume, new ChunkSignatures(seed, false))).bytes.length;
    expect(run(body)).toBe(66_560);
    for (const at of [25, 100, 65_000, 65_750, body.length - 20]) {
      const changed = Buffer.from(body);
      changed[at] = changed[at] === 0x61 ? 0x62 : 0x61;
      expect(() => run(changed)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/Signature|IncompleteBody/) }),
      );
    }
  });

  it('verifies the signature of a trailer', () => {
    const seed: SignatureSeed = {
      signature: 'f'.repeat(64),
      signingKey: new SigningKey(createHash('sha256').update('key').digest()),
      amzDate: '20260101T000000Z',
      scope: credentialScope('20260101', 'auto'),
    };
    const empty = hash('sha256', '');
    const end = seed.signingKey.sign(
      ['AWS4-HMAC-SHA256-PAYLOAD', seed.amzDate, seed.scope, seed.signature, empty, empty].join('\n'),
    );
    const trailer = 'x-amz-checksum-crc32:AAAAAA==';
    const right = seed.signingKey.sign(
      ['AWS4-HMAC-SHA256-TRAILER', seed.amzDate, seed.scope, end, hash('sha256', `${trailer}\n`)].join('\n'),
    );
    const run = (line: string, signature: string) =>
      decode(
        [Buffer.from(`0;chunk-signature=${end}\r\n${line}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`)],
        (consume) => new ChunkedDecoder(consume, new ChunkSignatures(seed, true)),
      );
    expect(run(trailer, right).trailer.get('x-amz-checksum-crc32')).toBe('AAAAAA==');
    expect(() => run('x-amz-checksum-crc32:BAAAAA==', right)).toThrow(
      expect.objectContaining({ code: 'SignatureDoesNotMatch' }),
    );
    expect(() => run(trailer, 'short')).toThrow(expect.objectContaining({ code: 'IncompleteBody' }));
    expect(() => run(trailer, '0'.repeat(64))).toThrow(expect.objectContaining({ code: 'SignatureDoesNotMatch' }));
  });
});
