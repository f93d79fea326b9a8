import { storeErrors } from '../../errors.ts';
import type { ContentConsumer } from '../../domain/content/content-source.ts';

const MAX_SIZE_LINE_BYTES = 1_024;
const MAX_TRAILER_BYTES = 8_192;
/** Minimum for every chunk except the last one with data, as in S3. */
const MIN_CHUNK_BYTES = 8_192;
const LINE_FEED = 0x0a;

/** Verifies the frames of a signed body. All methods may throw. */
export interface FrameVerifier {
  data(chunk: Uint8Array): void;
  /** Called at the end of each chunk, including the final empty one. */
  endChunk(signature: string): void;
  endTrailer(trailer: ReadonlyMap<string, string>): void;
}

/** Counts the parts of a chunk that are still in use. */
class Holds {
  readonly #release: (() => void) | undefined;
  #count = 1;

  constructor(release: (() => void) | undefined) {
    this.#release = release;
  }

  take(): () => void {
    this.#count += 1;
    return () => this.end();
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#release?.();
  }
}

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done';

/**
 * Decodes the `aws-chunked` framing of a body: `<hex size>[;chunk-signature=<hex>]\r\n<data>\r\n` …
 * `0…\r\n[trailer]\r\n`. Works push by push, without copying the data. Malformed framing throws `IncompleteBody`, as in
 * S3; a trailer line without a name or with a repeated one throws `MalformedTrailerError`.
 */
export class ChunkedDecoder {
  /** Header lines after the last chunk, by lower-case name. */
  readonly trailer = new Map<string, string>();
  readonly #consume: ContentConsumer;
  readonly #verifier: FrameVerifier | null;
  #state: State = 'size';
  #line = '';
  #trailerBytes = 0;
  #left = 0;
  #chunks = 0;
  #smallChunkBytes = 0;
  #signature = '';

  constructor(consume: ContentConsumer, verifier: FrameVerifier | null) {
    this.#consume = consume;
    this.#verifier = verifier;
  }

  /** `release` is called when no part of the chunk is needed any longer, which may be never. */
  push(chunk: Buffer, release?: () => void): Promise<unknown> | undefined {
    const waits: Promise<unknown>[] = [];
    const holds = new Holds(release);
    let position = 0;
    while (position < chunk.length) {
      if (this.#state === 'data') {
        const end = Math.min(chunk.length, position + this.#left);
        const wait = this.#data(chunk.subarray(position, end), holds.take());
        if (wait !== undefined) waits.push(wait);
        position = end;
      } else {
        position = this.#readLine(chunk, position);
      }
    }
    holds.end();
    return waits.length < 2 ? waits[0] : Promise.all(waits);
  }

  /** Ends the body. Throws `IncompleteBody` if the last chunk is missing. */
  end(): void {
    if (this.#state !== 'done') throw malformed('the last chunk is missing');
  }

  #data(data: Buffer, release: () => void): Promise<unknown> | undefined {
    this.#verifier?.data(data);
    this.#left -= data.length;
    if (this.#left === 0) {
      this.#verifier?.endChunk(this.#signature);
      this.#state = 'data-end';
    }
    return this.#consume(data, release);
  }

  /** Reads up to the line feed or the end of the chunk. Returns the next position. */
  #readLine(chunk: Buffer, start: number): number {
    if (this.#state === 'done') throw malformed('there is data after the last chunk');
    const feed = chunk.indexOf(LINE_FEED, start);
    const end = feed === -1 ? chunk.length : feed + 1;
    this.#line += chunk.toString('latin1', start, end);
    const limit = this.#state === 'trailer' ? MAX_TRAILER_BYTES : MAX_SIZE_LINE_BYTES;
    if (this.#line.length > limit) throw malformed('a line is too long');
    if (feed === -1) return end;
    if (!this.#line.endsWith('\r\n')) throw malformed('a line ends without a carriage return');
    const line = this.#line.slice(0, -2);
    this.#line = '';
    this.#endLine(line);
    return end;
  }

  #endLine(line: string): void {
    switch (this.#state) {
      case 'size':
        this.#beginChunk(line);
        return;
      case 'data-end':
        if (line !== '') throw malformed('a chunk is longer than its declared size');
        this.#state = 'size';
        return;
      case 'trailer':
        this.#trailerLine(line);
        return;
      default:
        throw malformed('there is data after the last chunk');
    }
  }

  #beginChunk(line: string): void {
    const parsed = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
    const [, size, signature] = parsed ?? [];
    if (size === undefined) throw malformed('the size of a chunk is malformed');
    if (this.#verifier !== null && signature === undefined) throw malformed('a chunk has no signature');
    this.#signature = signature ?? '';
    this.#left = Number.parseInt(size, 16);
    if (this.#left > 0) {
      this.#countChunk(this.#left);
      this.#state = 'data';
      return;
    }
    this.#verifier?.endChunk(this.#signature);
    this.#state = 'trailer';
  }

  #countChunk(sizeBytes: number): void {
    if (this.#smallChunkBytes > 0) {
      throw storeErrors.InvalidChunkSizeError({
        details: { chunk: this.#chunks, badChunkSize: this.#smallChunkBytes },
      });
    }
    this.#chunks += 1;
    if (sizeBytes < MIN_CHUNK_BYTES) this.#smallChunkBytes = sizeBytes;
  }

  #trailerLine(line: string): void {
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > MAX_TRAILER_BYTES) throw malformed('the trailer is too long');
    if (line === '') {
      this.#verifier?.endTrailer(this.trailer);
      this.#state = 'done';
      return;
    }
    if (line.includes('\r')) throw malformed('a carriage return within a line');
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (name === '' || this.trailer.has(name)) throw storeErrors.MalformedTrailerError();
    this.trailer.set(name, line.slice(colon + 1).trim());
  }
}

function malformed(reason: string): Error {
  return storeErrors.IncompleteBody({ cause: new Error(`the aws-chunked body is malformed: ${reason}`) });
}
