import { open, type FileHandle } from 'node:fs/promises';
import { replaceFile } from '@svc/runtime';

/** Position of a line in the file, to read it again without keeping it in memory. */
export interface LinePlace {
  offset: number;
  sizeBytes: number;
}

/**
 * An append-only file of lines; `append` resolves once the line is on disk. Opening it cuts off an incomplete last
 * line.
 */
export class JournalFile {
  readonly #path: string;
  #handle: FileHandle;
  #sizeBytes: number;
  /** An append failed: part of the rejected line may follow the last one. */
  #torn = false;
  /** Serializes appends: concurrent ones would not know their positions. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, handle: FileHandle, sizeBytes: number) {
    this.#path = path;
    this.#handle = handle;
    this.#sizeBytes = sizeBytes;
  }

  /** Opens or creates the file; `visit` receives each complete line in order. */
  static async open(path: string, visit: (line: string, place: LinePlace) => void): Promise<JournalFile> {
    const handle = await open(path, 'a+', 0o600);
    try {
      const sizeBytes = await visitLines(handle, visit);
      await handle.truncate(sizeBytes);
      await handle.sync();
      return new JournalFile(path, handle, sizeBytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(line: string): Promise<LinePlace> {
    return this.#inOrder(async () => {
      const bytes = Buffer.from(`${line}\n`);
      const place = { offset: this.#sizeBytes, sizeBytes: bytes.length - 1 };
      if (this.#torn) await this.#handle.truncate(this.#sizeBytes); // otherwise the next line would follow that part
      this.#torn = true;
      await this.#handle.appendFile(bytes);
      await this.#handle.datasync();
      this.#torn = false;
      this.#sizeBytes += bytes.length;
      return place;
    });
  }

  read(place: LinePlace): Promise<string> {
    return this.#inOrder(async () => (await this.#bytesAt(place)).toString('utf8'));
  }

  /**
   * Replaces the whole content with these lines: new text, or lines of the current file. Returns their new positions.
   * The old file stays intact until the new one is on disk.
   */
  rewrite(lines: Iterable<string | LinePlace>): Promise<LinePlace[]> {
    return this.#inOrder(async () => {
      const places: LinePlace[] = [];
      let offset = 0;
      await replaceFile(this.#path, async (next) => {
        for (const line of lines) {
          const bytes = typeof line === 'string' ? Buffer.from(line) : await this.#bytesAt(line);
          await next.appendFile(Buffer.concat([bytes, Buffer.from('\n')]));
          places.push({ offset, sizeBytes: bytes.length });
          offset += bytes.length + 1;
        }
      });
      const renewed = await open(this.#path, 'a+', 0o600);
      await this.#handle.close();
      this.#handle = renewed;
      this.#sizeBytes = offset;
      this.#torn = false;
      return places;
    });
  }

  async close(): Promise<void> {
    await this.#inOrder(() => this.#handle.close());
  }

  async #bytesAt(place: LinePlace): Promise<Buffer> {
    const buffer = Buffer.alloc(place.sizeBytes);
    await this.#handle.read(buffer, 0, place.sizeBytes, place.offset);
    return buffer;
  }

  #inOrder<Result>(action: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(action, action);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

/** Returns the size up to the last complete line. */
async function visitLines(handle: FileHandle, visit: (line: string, place: LinePlace) => void): Promise<number> {
  const chunk = Buffer.alloc(65_536);
  let pending = Buffer.alloc(0);
  let pendingAt = 0;
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return pendingAt;
    position += bytesRead;
    pending = Buffer.concat([pending, chunk.subarray(0, bytesRead)]);
    for (let end = pending.indexOf(0x0a); end !== -1; end = pending.indexOf(0x0a)) {
      visit(pending.toString('utf8', 0, end), { offset: pendingAt, sizeBytes: end });
      pending = pending.subarray(end + 1);
      pendingAt += end + 1;
    }
  }
}
