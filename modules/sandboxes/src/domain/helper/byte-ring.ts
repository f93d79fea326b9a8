const SMALLEST_BYTES = 4 * 1024;

/**
 * Bytes that have arrived and are not passed on yet, in one buffer that is used again and again. What is taken stays as it
 * is until it is released, so that it can be written out without a copy. It grows to what is in it at once, which the
 * stream's window bounds.
 */
export class ByteRing {
  #buffer = Buffer.alloc(0);
  /** Absolute positions: released, taken and received up to here. */
  #released = 0;
  #taken = 0;
  #end = 0;

  push(bytes: Uint8Array): void {
    const heldBytes = this.#end - this.#released;
    if (heldBytes + bytes.length > this.#buffer.length) this.#grow(heldBytes + bytes.length);
    const at = this.#end % this.#buffer.length;
    const straightBytes = Math.min(bytes.length, this.#buffer.length - at);
    this.#buffer.set(straightBytes === bytes.length ? bytes : bytes.subarray(0, straightBytes), at);
    if (straightBytes < bytes.length) this.#buffer.set(bytes.subarray(straightBytes), 0);
    this.#end += bytes.length;
  }

  /** What lies in one piece of what was not taken yet, in its order; null when there is nothing. */
  take(): Buffer | null {
    if (this.#taken === this.#end) return null;
    const at = this.#taken % this.#buffer.length;
    const sizeBytes = Math.min(this.#end - this.#taken, this.#buffer.length - at);
    this.#taken += sizeBytes;
    return this.#buffer.subarray(at, at + sizeBytes);
  }

  /** So many bytes, the oldest of what was taken, are needed no more. */
  release(sizeBytes: number): void {
    this.#released = Math.min(this.#taken, this.#released + sizeBytes);
    // From the start again: in one piece as often as can be, and in the same few pages.
    if (this.#released === this.#end) this.#released = this.#taken = this.#end = 0;
  }

  #grow(neededBytes: number): void {
    let size = Math.max(SMALLEST_BYTES, this.#buffer.length);
    while (size < neededBytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    for (let from = this.#released; from < this.#end;) {
      const at = from % this.#buffer.length;
      const to = from % size;
      const sizeBytes = Math.min(this.#end - from, this.#buffer.length - at, size - to);
      this.#buffer.copy(grown, to, at, at + sizeBytes);
      from += sizeBytes;
    }
    this.#buffer = grown; // what was taken goes on lying in the old one
  }
}
