import { MalformedAnswer } from './answer-head.ts';
import type { HeaderList } from './relay-headers.ts';

/** Extracts a response body from incoming bytes as slices, without copying. */
export interface AnswerBody {
  /** Passes each piece to `onPiece`. Once the body is complete, returns the bytes that follow it. */
  push(bytes: Buffer, onPiece: (piece: Buffer) => void): Buffer;
  readonly isWhole: boolean;
  /** Whether the connection's end marks the end of the body. */
  readonly endsWithConnection: boolean;
  readonly trailers: HeaderList;
}

const NOTHING = Buffer.alloc(0);
const NO_TRAILERS: HeaderList = [];

/**
 * Creates the reader for a body with this framing: a length in bytes, null for chunked, or `end` if the end of the
 * connection ends it (RFC 9112, section 6.3).
 */
export function answerBody(length: number | null | 'end'): AnswerBody {
  if (length === null) return new ChunkedBody();
  return length === 'end' ? untilTheEnd : new CountedBody(length);
}

const untilTheEnd: AnswerBody = {
  push: (bytes, onPiece) => {
    onPiece(bytes);
    return NOTHING;
  },
  isWhole: false,
  endsWithConnection: true,
  trailers: NO_TRAILERS,
};

class CountedBody implements AnswerBody {
  readonly endsWithConnection = false;
  readonly trailers = NO_TRAILERS;
  #leftBytes: number;

  constructor(lengthBytes: number) {
    this.#leftBytes = lengthBytes;
  }

  get isWhole(): boolean {
    return this.#leftBytes === 0;
  }

  push(bytes: Buffer, onPiece: (piece: Buffer) => void): Buffer {
    const piece = bytes.length <= this.#leftBytes ? bytes : bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= piece.length;
    if (piece.length > 0) onPiece(piece);
    return piece.length === bytes.length ? NOTHING : bytes.subarray(piece.length);
  }
}

const MAX_LINE_BYTES = 8 * 1024;
const MAX_TRAILERS = 100;
const CHUNK_SIZE = /^([0-9a-f]{1,12})[\t ]*(?:;.*)?$/i;
const TRAILER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** Decodes chunked bodies and ignores chunk extensions (RFC 9112, section 7.1). */
class ChunkedBody implements AnswerBody {
  readonly endsWithConnection = false;
  readonly trailers: HeaderList = [];
  #expects: 'size' | 'data' | 'end of data' | 'trailer' | 'nothing' = 'size';
  #leftBytes = 0;
  /** Start of a line split across two reads. */
  #line = '';

  get isWhole(): boolean {
    return this.#expects === 'nothing';
  }

  push(bytes: Buffer, onPiece: (piece: Buffer) => void): Buffer {
    let offset = 0;
    while (offset < bytes.length && this.#expects !== 'nothing') {
      if (this.#expects === 'data') {
        const piece = bytes.subarray(offset, offset + this.#leftBytes);
        offset += piece.length;
        this.#leftBytes -= piece.length;
        if (this.#leftBytes === 0) this.#expects = 'end of data';
        onPiece(piece);
        continue;
      }
      const newline = bytes.indexOf(10, offset);
      const end = newline === -1 ? bytes.length : newline + 1;
      this.#line += bytes.toString('latin1', offset, end);
      offset = end;
      if (this.#line.length > MAX_LINE_BYTES) throw new MalformedAnswer('a line of its chunks is too long');
      if (newline !== -1) this.#takeLine();
    }
    return offset === bytes.length ? NOTHING : bytes.subarray(offset);
  }

  #takeLine(): void {
    if (!this.#line.endsWith('\r\n')) throw new MalformedAnswer('a line of its chunks ends without CR');
    const line = this.#line.slice(0, -2);
    this.#line = '';
    switch (this.#expects) {
      case 'size':
        return this.#begin(line);
      case 'end of data':
        if (line !== '') throw new MalformedAnswer('a chunk is longer than its size');
        this.#expects = 'size';
        return;
      default:
        return this.#takeTrailer(line);
    }
  }

  #begin(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new MalformedAnswer('the size of a chunk is no number');
    this.#leftBytes = Number.parseInt(size, 16);
    this.#expects = this.#leftBytes === 0 ? 'trailer' : 'data';
  }

  #takeTrailer(line: string): void {
    if (line === '') {
      this.#expects = 'nothing';
      return;
    }
    const [, name, value] = TRAILER.exec(line) ?? [];
    if (name === undefined || value === undefined || this.trailers.length >= 2 * MAX_TRAILERS) {
      throw new MalformedAnswer('a trailer is malformed');
    }
    this.trailers.push(name, value.trim());
  }
}
