const SMALLEST_BYTES = 4 * 1024;

/**
 * A ring buffer for bytes that have arrived and are not passed on yet. Taken bytes stay unchanged until they are
 * released, so that they can be written without a copy. The buffer grows with its content, which the stream's window
 * bounds.
 */
export class ByteRing {
  #buffer = Buffer.alloc(0);
  /** Absolute positions up to which bytes are released, taken and received. */
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

  /** Takes the next contiguous bytes that are not taken yet; null if there are none. */
  take(): Buffer | null {
    if (this.#taken === this.#end) return null;
    const at = this.#taken % this.#buffer.length;
    const sizeBytes = Math.min(this.#end - this.#taken, this.#buffer.length - at);
    this.#taken += sizeBytes;
    return this.#buffer.subarray(at, at + sizeBytes);
  }

  /** Frees the oldest `sizeBytes` of the taken bytes. */
  release(sizeBytes: number): void {
    this.#released = Math.min(this.#taken, this.#released + sizeBytes);
    // Reset to the start when empty, to keep data contiguous and in the same few pages.
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
    this.#buffer = grown; // taken bytes remain in the old buffer
  }
}
