import type { FileHandle } from 'node:fs/promises';

/** Bytes to gather per write, since small writes cost as much as large ones. */
const GATHERED_BYTES = 1024 * 1024;

/** Writes sequentially from a file position; the next chunk downloads during a write. */
export class RangeWriter {
  readonly #file: FileHandle;
  #position: number;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, position: number) {
    this.#file = file;
    this.#position = position;
  }

  /** Takes ownership of the chunk. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes >= GATHERED_BYTES) await this.#flush();
  }

  /** Resolves when everything is written. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
  }

  /** Resolves when no write is in progress, whatever its outcome. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }

  async #flush(): Promise<void> {
    await this.#writing;
    if (this.#gatheredBytes === 0) return;
    const [chunks, position] = [this.#gathered, this.#position];
    this.#position += this.#gatheredBytes;
    [this.#gathered, this.#gatheredBytes] = [[], 0];
    this.#writing = writeAll(this.#file, chunks, position);
    this.#writing.catch(() => undefined); // the next waiting caller gets the error
  }
}

/** A nearly full disk may accept only part of a write. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[], position: number): Promise<void> {
  const { bytesWritten } = await file.writev([...chunks], position);
  let skipped = bytesWritten;
  let at = position;
  for (const chunk of chunks) {
    const done = Math.min(skipped, chunk.length);
    skipped -= done;
    for (let offset = done; offset < chunk.length;) {
      const rest = await file.write(chunk, offset, chunk.length - offset, at + offset);
      offset += rest.bytesWritten;
    }
    at += chunk.length;
  }
}
