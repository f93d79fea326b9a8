/** Length of a frame header: type (1 byte), stream (4) and payload length (4), in the order of the format. */
export const FRAME_HEADER_BYTES = 9;

/** Frame header of a protocol. All numbers are unsigned and big-endian. */
export interface FrameFormat {
  /** Offsets of the fields in the header. */
  readonly typeAt: number;
  readonly streamAt: number;
  readonly lengthAt: number;
  /** Type of the frames whose payload passes through in slices. */
  readonly dataType: number;
  /** Throws if the protocol does not allow such a frame. Bounds the payload, and so the memory of the decoder. */
  check(this: void, type: number, stream: number, lengthBytes: number): void;
}

/** Receives decoded frames. Every buffer is a view that is valid only during the call; copy bytes to keep them. */
export interface FrameHandler {
  /** A data frame begins. Its slices follow in order and add up to this many bytes. */
  dataBegins(stream: number, lengthBytes: number): void;
  /** A slice of a data frame as it arrived, never empty. */
  data(stream: number, slice: Buffer): void;
  /** Any other frame, complete. */
  frame(type: number, stream: number, payload: Buffer): void;
}

const NOTHING = Buffer.alloc(0);
const FIRST_HELD_BYTES = 4096;

/**
 * Splits a byte stream into frames, regardless of how it was fragmented. Data passes through without buffering. Of other
 * frames, at most one unfinished one is held, in one buffer that grows with the bytes that arrived: never beyond the
 * frame's length, and never for a header alone.
 */
export class FrameDecoder {
  readonly #format: FrameFormat;
  readonly #handler: FrameHandler;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #stream = 0;
  /** Payload bytes still to arrive. */
  #missingBytes = 0;
  /** The partial frame, in the first `#heldBytes` bytes. */
  #held = NOTHING;
  #heldBytes = 0;

  constructor(format: FrameFormat, handler: FrameHandler) {
    this.#format = format;
    this.#handler = handler;
  }

  /** Throws what the format's `check` or the handler throws. The decoder must not be used after that. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) {
        offset = this.#takeHeader(chunk, offset);
        if (this.#headerBytes < FRAME_HEADER_BYTES) return;
        this.#begin();
        continue;
      }
      const end = Math.min(chunk.length, offset + this.#missingBytes);
      this.#missingBytes -= end - offset;
      this.#takePayload(chunk.subarray(offset, end));
      offset = end;
    }
  }

  #takeHeader(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + FRAME_HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += chunk.copy(this.#header, this.#headerBytes, offset, end);
    return end;
  }

  #begin(): void {
    const { typeAt, streamAt, lengthAt, dataType, check } = this.#format;
    this.#type = this.#header.readUInt8(typeAt);
    this.#stream = this.#header.readUInt32BE(streamAt);
    this.#missingBytes = this.#header.readUInt32BE(lengthAt);
    const lengthBytes = this.#missingBytes;
    check(this.#type, this.#stream, lengthBytes);
    if (this.#type !== dataType) {
      if (lengthBytes === 0) this.#finish(NOTHING);
      return;
    }
    if (lengthBytes === 0) this.#headerBytes = 0;
    this.#handler.dataBegins(this.#stream, lengthBytes);
  }

  #takePayload(slice: Buffer): void {
    if (this.#type === this.#format.dataType) {
      if (this.#missingBytes === 0) this.#headerBytes = 0;
      this.#handler.data(this.#stream, slice);
    } else if (this.#missingBytes === 0 && this.#heldBytes === 0) {
      this.#finish(slice);
    } else {
      this.#hold(slice);
    }
  }

  #hold(slice: Buffer): void {
    const neededBytes = this.#heldBytes + slice.length;
    if (neededBytes > this.#held.length) {
      const frameBytes = neededBytes + this.#missingBytes;
      const grownBytes = Math.min(frameBytes, Math.max(FIRST_HELD_BYTES, neededBytes, 2 * this.#held.length));
      const grown = Buffer.allocUnsafeSlow(grownBytes);
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    slice.copy(this.#held, this.#heldBytes);
    this.#heldBytes = neededBytes;
    if (this.#missingBytes === 0) this.#finish(this.#held.subarray(0, neededBytes));
  }

  #finish(payload: Buffer): void {
    this.#held = NOTHING;
    this.#heldBytes = 0;
    this.#headerBytes = 0;
    this.#handler.frame(this.#type, this.#stream, payload);
  }
}
