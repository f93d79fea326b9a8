import { CRC_POLYNOMIALS } from './crc-kernel.ts';

export type CombinableCrc = keyof typeof CRC_POLYNOMIALS;

/**
 * A polynomial of up to 64 bits, reflected: the highest bit of its width is x^0. Numbers take a tenth of the time of
 * bigints.
 */
interface Polynomial {
  high: number;
  low: number;
}

/**
 * Combines the CRCs of two consecutive texts, given the length of the second. Advances the first register by that many
 * zero bytes, which is a multiplication by x^(8 n) modulo the polynomial. Caches the powers, since the parts of an
 * upload mostly have one length.
 */
export class CrcCombiner {
  readonly #modulus: Polynomial;
  readonly #width: number;
  readonly #powers = new Map<number, Polynomial>();

  constructor(crc: CombinableCrc) {
    const { width, reflected } = CRC_POLYNOMIALS[crc];
    this.#width = width;
    this.#modulus = { high: Number(reflected >> 32n), low: Number(reflected & 0xffffffffn) };
  }

  combine(first: Buffer, second: Buffer, secondBytes: number): Buffer {
    const moved = this.#multiply(this.#read(first), this.#powerOf(secondBytes));
    const added = this.#read(second);
    return this.#write({ high: moved.high ^ added.high, low: moved.low ^ added.low });
  }

  #powerOf(bytes: number): Polynomial {
    const known = this.#powers.get(bytes);
    if (known !== undefined) return known;
    let square = this.#xTo(8);
    let result = this.#xTo(0);
    for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) result = this.#multiply(result, square);
      square = this.#multiply(square, square);
    }
    if (this.#powers.size < 1_024) this.#powers.set(bytes, result);
    return result;
  }

  #xTo(power: number): Polynomial {
    const bit = this.#width - 1 - power;
    return bit < 32 ? { high: 0, low: 1 << bit } : { high: 1 << (bit - 32), low: 0 };
  }

  #multiply(left: Polynomial, right: Polynomial): Polynomial {
    let [productHigh, productLow] = [0, 0];
    let { high, low } = right;
    for (let bit = this.#width - 1; bit >= 0; bit -= 1) {
      const isSet = bit < 32 ? (left.low >>> bit) & 1 : (left.high >>> (bit - 32)) & 1;
      if (isSet === 1) {
        productHigh ^= high;
        productLow ^= low;
      }
      const falls = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (falls === 1) {
        high ^= this.#modulus.high;
        low ^= this.#modulus.low;
      }
    }
    return { high: productHigh, low: productLow };
  }

  #read(digest: Buffer): Polynomial {
    if (this.#width === 32) return { high: 0, low: digest.readInt32BE() };
    return { high: digest.readInt32BE(), low: digest.readInt32BE(4) };
  }

  #write({ high, low }: Polynomial): Buffer {
    const digest = Buffer.alloc(this.#width / 8);
    if (this.#width === 64) digest.writeInt32BE(high);
    digest.writeInt32BE(low, digest.length - 4);
    return digest;
  }
}
