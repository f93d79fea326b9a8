import type { FileHandle } from 'node:fs/promises';

/** So much is gathered before it is written: each write of a small piece would cost as much as that of a large one. */
const GATHERED_BYTES = 1024 * 1024;

/** Writes what comes one after the other from a position of a file on; the next is fetched while one is written. */
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

  /** The chunk belongs to the writer from now on. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes >= GATHERED_BYTES) await this.#flush();
  }

  /** Once all is written. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
  }

  /** Once nothing is written any more, whatever became of it. */
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
    this.#writing.catch(() => undefined); // told by whoever waits for it next
  }
}

/** A disk that is nearly full takes a part of what it is given. */
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
