import { crc32 } from 'node:zlib';

/** Checksums that can be combined, so that the parts of an upload prove the whole. */
export type CrcName = 'crc32' | 'crc64nvme';

/** Reversed polynomials: ISO 3309 and NVM Express. */
const POLYNOMIALS: Readonly<Record<CrcName, { width: 32n | 64n; reversed: bigint }>> = {
  crc32: { width: 32n, reversed: 0xedb88320n },
  crc64nvme: { width: 64n, reversed: 0x9a6c9329ac4bc9b5n },
};

export interface Crc {
  update(chunk: Uint8Array): void;
  value(): bigint;
}

export function createCrc(name: CrcName): Crc {
  return name === 'crc32' ? new Crc32() : new Crc64();
}

class Crc32 implements Crc {
  #value = 0;

  update(chunk: Uint8Array): void {
    this.#value = crc32(chunk, this.#value);
  }

  value(): bigint {
    return BigInt(this.#value >>> 0);
  }
}

/** Split into two 32-bit halves, since numbers have no 64 bits. */
class Crc64 implements Crc {
  readonly #high = new Uint32Array(256);
  readonly #low = new Uint32Array(256);
  #valueHigh = 0xffffffff;
  #valueLow = 0xffffffff;

  constructor() {
    for (let byte = 0; byte < 256; byte += 1) {
      let rest = BigInt(byte);
      for (let bit = 0; bit < 8; bit += 1) {
        rest = (rest & 1n) === 1n ? (rest >> 1n) ^ POLYNOMIALS.crc64nvme.reversed : rest >> 1n;
      }
      this.#high[byte] = Number(rest >> 32n);
      this.#low[byte] = Number(rest & 0xffffffffn);
    }
  }

  update(chunk: Uint8Array): void {
    const [highTable, lowTable] = [this.#high, this.#low];
    let [high, low] = [this.#valueHigh, this.#valueLow];
    for (const byte of chunk) {
      const index = (low ^ byte) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (lowTable[index] ?? 0);
      high = (high >>> 8) ^ (highTable[index] ?? 0);
    }
    this.#valueHigh = high;
    this.#valueLow = low;
  }

  value(): bigint {
    const high = BigInt(~this.#valueHigh >>> 0);
    return (high << 32n) | BigInt(~this.#valueLow >>> 0);
  }
}

/** Encodes a CRC as in S3 headers. */
export function crcToBase64(name: CrcName, value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes.subarray(name === 'crc32' ? 4 : 0).toString('base64');
}

/**
 * Combines the CRCs of two consecutive byte runs (Mark Adler's method: a matrix over GF(2) advances a CRC past a zero
 * byte, and repeated squaring past many).
 */
export class CrcJoiner {
  readonly #name: CrcName;
  readonly #passing = new Map<number, bigint[]>();

  constructor(name: CrcName) {
    this.#name = name;
  }

  join(first: bigint, second: bigint, secondSizeBytes: number): bigint {
    if (secondSizeBytes === 0) return first;
    let matrix = this.#passing.get(secondSizeBytes);
    if (matrix === undefined) {
      matrix = pastZeros(this.#name, secondSizeBytes);
      this.#passing.set(secondSizeBytes, matrix);
    }
    return multiply(matrix, first) ^ second;
  }
}

function pastZeros(name: CrcName, sizeBytes: number): bigint[] {
  const { width, reversed } = POLYNOMIALS[name];
  const identity = Array.from({ length: Number(width) }, (_, bit) => 1n << BigInt(bit));
  let power = [reversed, ...identity.slice(0, -1)]; // past one zero bit
  let result = identity;
  for (let rest = BigInt(sizeBytes) * 8n; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = result.map((column) => multiply(power, column));
    power = power.map((column) => multiply(power, column));
  }
  return result;
}

function multiply(matrix: readonly bigint[], vector: bigint): bigint {
  let sum = 0n;
  for (let rest = vector, bit = 0; rest > 0n; rest >>= 1n, bit += 1) {
    if ((rest & 1n) === 1n) sum ^= matrix[bit] ?? 0n;
  }
  return sum;
}
