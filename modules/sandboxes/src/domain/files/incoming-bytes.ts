import type { Writable } from 'node:stream';
import type { HelperStream } from '../helper/helper-stream.ts';
import { ByteRing } from '../helper/byte-ring.ts';

/**
 * Bytes of a transfer out of the sandbox. They wait in one buffer of at most a window, and credit is granted again once
 * the consumer is done with them, so that a client costs at most one window of memory.
 */
export class IncomingBytes {
  readonly #ring = new ByteRing();
  #totalBytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(bytes: Buffer): void {
    this.#totalBytes += bytes.length;
    this.#ring.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Each chunk is valid until the next one is requested. */
  async *chunks(stream: HelperStream): AsyncGenerator<Buffer, void> {
    for (;;) {
      const chunk = this.#ring.take();
      if (chunk === null) {
        if (this.#ended) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      yield chunk;
      this.#ring.release(chunk.length);
      stream.consumed(chunk.length);
    }
  }

  /** Writes all bytes as they arrive, without copying. Resolves when the last byte has been written. */
  writeTo(stream: HelperStream, to: Writable): Promise<void> {
    return new Promise((resolve) => {
      let unwritten = 0;
      this.#wake = (): void => {
        for (let chunk = this.#ring.take(); chunk !== null; chunk = this.#ring.take()) {
          const sizeBytes = chunk.length;
          unwritten += 1;
          to.write(chunk, () => {
            unwritten -= 1;
            this.#ring.release(sizeBytes);
            stream.consumed(sizeBytes);
            if (this.#ended && unwritten === 0) this.#wake();
          });
        }
        if (this.#ended && unwritten === 0) resolve();
      };
      this.#wake();
    });
  }
}
