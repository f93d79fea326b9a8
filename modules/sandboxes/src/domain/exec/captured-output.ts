/** Keeps the beginning and the end of an output of any size, at most `limitBytes` in total. */
export class CapturedOutput {
  readonly #headLimitBytes: number;
  readonly #tailLimitBytes: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #totalBytes = 0;

  constructor(limitBytes: number) {
    this.#headLimitBytes = Math.ceil(limitBytes / 2);
    this.#tailLimitBytes = Math.floor(limitBytes / 2);
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get truncated(): boolean {
    return this.#totalBytes > this.#headBytes + Math.min(this.#tailBytes, this.#tailLimitBytes);
  }

  /** Copies the bytes, because they may be a view into a reused buffer. */
  push(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    const room = this.#headLimitBytes - this.#headBytes;
    const first = bytes.subarray(0, room);
    if (first.length > 0) this.#head.push(Buffer.from(first));
    this.#headBytes += first.length;
    const rest = bytes.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest));
    this.#tailBytes += rest.length;
    // Trim only at twice the limit, so that each byte is moved at most once more.
    if (this.#tailBytes > 2 * this.#tailLimitBytes) this.#cut();
  }

  /** Returns the kept output, with `between` in place of an omitted middle. */
  bytes(between: (leftOutBytes: number) => string): Buffer {
    this.#cut();
    const leftOutBytes = this.#totalBytes - this.#headBytes - this.#tailBytes;
    const gap = leftOutBytes === 0 ? [] : [Buffer.from(between(leftOutBytes))];
    return Buffer.concat([...this.#head, ...gap, ...this.#tail]);
  }

  #cut(): void {
    if (this.#tailBytes <= this.#tailLimitBytes) return;
    const all = Buffer.concat(this.#tail);
    // Copy it, so that the large buffer can be freed
    const kept = Buffer.from(all.subarray(all.length - this.#tailLimitBytes));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}
