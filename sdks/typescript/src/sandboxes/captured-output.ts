/** Keeps the beginning and the end of an output, each up to half of the limit. */
export class CapturedOutput {
  readonly #halfBytes: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  /** Bytes received so far, including omitted ones. */
  totalBytes = 0;

  constructor(limitBytes: number) {
    this.#halfBytes = Math.floor(limitBytes / 2);
  }

  /** True if only the beginning and the end were kept. */
  get truncated(): boolean {
    return this.totalBytes > this.#headBytes + this.#tailBytes;
  }

  /** Copies the next bytes of the output. */
  push(bytes: Uint8Array): void {
    this.totalBytes += bytes.length;
    const toHead = Math.min(bytes.length, this.#halfBytes - this.#headBytes);
    if (toHead > 0) {
      this.#head.push(bytes.slice(0, toHead));
      this.#headBytes += toHead;
    }
    const rest = bytes.subarray(Math.max(0, toHead));
    if (rest.length === 0) return;
    this.#tail.push(rest.slice());
    this.#tailBytes += rest.length;
    this.#trim();
  }

  /** Decodes UTF-8; a note between the two halves gives the omitted size. */
  text(): string {
    const left = this.totalBytes - this.#headBytes - this.#tailBytes;
    if (left === 0) return decode([...this.#head, ...this.#tail]);
    return `${decode(this.#head)}\n[${left} bytes omitted]\n${decode(this.#tail)}`;
  }

  #trim(): void {
    let [first] = this.#tail;
    while (first !== undefined && this.#tailBytes > this.#halfBytes) {
      const excess = this.#tailBytes - this.#halfBytes;
      if (first.length <= excess) {
        this.#tail.shift();
        this.#tailBytes -= first.length;
      } else {
        this.#tail[0] = first.slice(excess);
        this.#tailBytes -= excess;
      }
      [first] = this.#tail;
    }
    // Many small pieces cost more than their bytes.
    if (this.#tail.length > 4096) this.#tail = [join(this.#tail)];
  }
}

function decode(pieces: readonly Uint8Array[]): string {
  return new TextDecoder().decode(join(pieces));
}

/** Concatenates chunks. */
export function join(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}
