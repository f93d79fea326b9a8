import { CRC_POLYNOMIALS } from './crc-kernel.ts';

export type CombinableCrc = keyof typeof CRC_POLYNOMIALS;

/**
 * CRC of two texts put together, from the CRC of each and the length of the second: the first one's register is moved
 * on by that many zero bytes, which is a multiplication by x^(8 n) modulo the polynomial. The powers are kept, since the
 * parts of an upload mostly have one length.
 */
export class CrcCombiner {
  readonly #polynomial: bigint;
  readonly #one: bigint;
  readonly #width: number;
  readonly #powers = new Map<number, bigint>();

  constructor(crc: CombinableCrc) {
    const { width, reflected } = CRC_POLYNOMIALS[crc];
    this.#width = width;
    this.#polynomial = reflected;
    this.#one = 1n << BigInt(width - 1); // reflected: the highest bit is x^0
  }

  combine(first: Buffer, second: Buffer, secondBytes: number): Buffer {
    const moved = this.#multiply(toInteger(first), this.#powerOf(secondBytes));
    return toBytes(moved ^ toInteger(second), this.#width / 8);
  }

  #powerOf(bytes: number): bigint {
    const known = this.#powers.get(bytes);
    if (known !== undefined) return known;
    let square = this.#one >> 8n; // x^8
    let result = this.#one;
    for (let rest = BigInt(bytes); rest > 0n; rest >>= 1n) {
      if ((rest & 1n) === 1n) result = this.#multiply(result, square);
      square = this.#multiply(square, square);
    }
    if (this.#powers.size < 1_024) this.#powers.set(bytes, result);
    return result;
  }

  #multiply(left: bigint, right: bigint): bigint {
    let product = 0n;
    let shifted = right;
    for (let bit = this.#one; bit > 0n; bit >>= 1n) {
      if ((left & bit) !== 0n) product ^= shifted;
      shifted = (shifted & 1n) === 1n ? (shifted >> 1n) ^ this.#polynomial : shifted >> 1n;
    }
    return product;
  }
}

function toInteger(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function toBytes(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}
