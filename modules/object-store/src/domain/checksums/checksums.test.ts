import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECKSUM_ALGORITHMS, isBase64, parseChecksumAlgorithm, type DigestName } from './algorithms.ts';
import { CrcCombiner } from './crc-combine.ts';
import { createHasher, HashKernels, MultiHasher } from './hasher.ts';

const kernel = new HashKernels();
await kernel.prepare(CHECKSUM_ALGORITHMS);
const check = Buffer.from('123456789');

function digestOf(name: DigestName, ...chunks: Uint8Array[]): Buffer {
  const hasher = createHasher(kernel, name);
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest();
}

describe('checksums', () => {
  it('matches the published check values of each CRC', () => {
    expect(digestOf('CRC32', check).toString('hex')).toBe('cbf43926');
    expect(digestOf('CRC32C', check).toString('hex')).toBe('e3069283');
    expect(digestOf('CRC64NVME', check).toString('hex')).toBe('ae8b14860a799888');
  });

  it('matches the reference values of each XXH for empty and short texts', () => {
    // From the reference implementation: `printf … | xxhsum -H1/-H2/-H3`.
    expect(digestOf('XXHASH64', Buffer.from('')).toString('hex')).toBe('ef46db3751d8e999');
    expect(digestOf('XXHASH3', Buffer.from('')).toString('hex')).toBe('2d06800538d394c2');
    expect(digestOf('XXHASH128', Buffer.from('')).toString('hex')).toBe('99aa06d3014798d86001c324468d497f');
    expect(digestOf('XXHASH64', Buffer.from('abc')).toString('hex')).toBe('44bc2cf5ad770999');
    expect(digestOf('XXHASH3', Buffer.from('abc')).toString('hex')).toBe('78af5f94892f3950');
    expect(digestOf('XXHASH128', Buffer.from('abc')).toString('hex')).toBe('06b05ab6733a618578af5f94892f3950');
  });

  it('keeps interleaved streams apart', () => {
    for (const name of ['XXHASH64', 'XXHASH3', 'XXHASH128'] as const) {
      const [left, right] = [createHasher(kernel, name), createHasher(kernel, name)];
      const [first, second] = [Buffer.alloc(5_000, 'first'), Buffer.alloc(5_000, 'second')];
      for (let at = 0; at < 5_000; at += 500) {
        left.update(first.subarray(at, at + 500));
        right.update(second.subarray(at, at + 500));
      }
      expect([left.digest(), right.digest()]).toEqual([digestOf(name, first), digestOf(name, second)]);
    }
  });

  it('computes the checksum of empty content', () => {
    expect(digestOf('CRC64NVME').toString('base64')).toBe('AAAAAAAAAAA=');
    expect(digestOf('CRC32C').toString('base64')).toBe('AAAAAA==');
    expect(digestOf('MD5').toString('hex')).toBe('d41d8cd98f00b204e9800998ecf8427e');
  });

  it('does not depend on chunk boundaries, even beyond the size of the input window', () => {
    const big = Buffer.alloc(200_001, 'pattern of some length');
    for (const name of CHECKSUM_ALGORITHMS) {
      const whole = digestOf(name, big);
      fc.assert(
        fc.property(fc.nat(big.length), fc.nat(big.length), (left, right) => {
          const [from, to] = left < right ? [left, right] : [right, left];
          const cut = digestOf(name, big.subarray(0, from), big.subarray(from, to), big.subarray(to));
          expect(cut).toEqual(whole);
        }),
        { numRuns: 20 },
      );
    }
  });

  it('matches a bitwise CRC of random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(digestOf('CRC64NVME', bytes)).toEqual(plainCrc(bytes, 64, 0x9a6c9329ac4bc9b5n));
        expect(digestOf('CRC32C', bytes)).toEqual(plainCrc(bytes, 32, 0x82f63b78n));
      }),
      { numRuns: 50 },
    );
  });

  it('matches it for bytes that fill the input window once or several times', () => {
    const bytes = Uint8Array.from({ length: 200_003 }, (_, index) => (index * index * 31 + (index >> 7)) & 255);
    for (const length of [8_191, 8_192, 8_193, 65_535, 65_536, 65_537, bytes.length]) {
      const piece = bytes.subarray(0, length);
      expect(digestOf('CRC64NVME', piece)).toEqual(plainCrc(piece, 64, 0x9a6c9329ac4bc9b5n));
      expect(digestOf('CRC32C', piece)).toEqual(plainCrc(piece, 32, 0x82f63b78n));
    }
  });

  it('combines the CRCs of parts into the CRC of the whole', () => {
    const combiners = {
      CRC32: new CrcCombiner('CRC32'),
      CRC32C: new CrcCombiner('CRC32C'),
      CRC64NVME: new CrcCombiner('CRC64NVME'),
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.uint8Array({ maxLength: 2_000 }), (left, right) => {
        for (const name of ['CRC32', 'CRC32C', 'CRC64NVME'] as const) {
          const joined = combiners[name].combine(digestOf(name, left), digestOf(name, right), right.length);
          expect(joined).toEqual(digestOf(name, left, right));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('computes several digests in one pass', () => {
    const hasher = new MultiHasher(kernel, ['MD5', 'SHA256', 'CRC32']);
    hasher.update(check);
    const results = hasher.digest();
    expect(results.MD5).toEqual(createHash('md5').update(check).digest());
    expect(results.SHA256).toEqual(createHash('sha256').update(check).digest());
    expect(results.CRC32?.readUInt32BE()).toBe(crc32(check));
    expect(results.SHA1).toBeUndefined();
  });

  it('parses algorithm names in any case and recognizes base64', () => {
    expect(CHECKSUM_ALGORITHMS.map((name) => parseChecksumAlgorithm(name.toLowerCase()))).toEqual([
      ...CHECKSUM_ALGORITHMS,
    ]);
    expect(parseChecksumAlgorithm('md4')).toBeNull();
    expect(['AAAAAA==', 'bad', 'not base64', '', 'a=b'].map((text) => isBase64(text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

function plainCrc(bytes: Uint8Array, width: number, polynomial: bigint): Buffer {
  let register = (1n << BigInt(width)) - 1n;
  for (const byte of bytes) {
    register ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1)
      register = (register & 1n) === 1n ? (register >> 1n) ^ polynomial : register >> 1n;
  }
  const value = BigInt.asUintN(width, ~register);
  return Buffer.from(value.toString(16).padStart(width / 4, '0'), 'hex');
}
