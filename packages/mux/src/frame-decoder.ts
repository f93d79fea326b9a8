import { MUX_CODES, ProtocolViolation } from './errors.ts';
import { FRAME, HEADER_BYTES, MAX_DATA_BYTES, MAX_METADATA_BYTES, MAX_REASON_BYTES, PING_BYTES } from './frames.ts';

/** Receives decoded frames. Any method may throw a `ProtocolViolation`, which ends the connection. */
export interface FrameHandler {
  /** A DATA frame begins. Its slices follow in order and add up to this many bytes. */
  dataBegins(streamId: number, lengthBytes: number): void;
  /** A slice of a DATA frame: a view of the pushed chunk, never empty. */
  data(streamId: number, slice: Buffer): void;
  /** Any other known frame, complete. The payload is a view, so copy it to keep it. */
  frame(type: number, streamId: number, payload: Buffer): void;
}

/** Minimum and maximum payload, and whether the frame belongs to a stream. */
const RULES: readonly { least: number; most: number; ofStream: boolean }[] = [
  { least: 0, most: MAX_DATA_BYTES, ofStream: true },
  { least: 0, most: MAX_METADATA_BYTES, ofStream: true },
  { least: 0, most: 0, ofStream: true },
  { least: 4, most: 4 + MAX_REASON_BYTES, ofStream: true },
  { least: 4, most: 4, ofStream: true },
  { least: PING_BYTES, most: PING_BYTES, ofStream: false },
  { least: PING_BYTES, most: PING_BYTES, ofStream: false },
  { least: 4, most: 4 + MAX_REASON_BYTES, ofStream: false },
];

const NOTHING = Buffer.alloc(0);

/**
 * Splits a byte stream into frames. DATA is passed on in slices as they arrive and never assembled; of other frames, at
 * most a few kilobytes are buffered until complete.
 */
export class FrameDecoder {
  readonly #handler: FrameHandler;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #streamId = 0;
  /** Payload bytes still to arrive. */
  #missingBytes = 0;
  /** Buffer for a control frame split across chunks, and how much of it is filled. */
  #partial = NOTHING;
  #partialBytes = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        offset += this.#takeHeader(chunk, offset);
        if (this.#headerBytes < HEADER_BYTES) return;
        this.#begin();
      }
      const end = Math.min(chunk.length, offset + this.#missingBytes);
      if (end > offset) this.#takePayload(chunk.subarray(offset, end));
      offset = end;
      if (this.#missingBytes === 0) this.#headerBytes = 0;
    }
  }

  #takeHeader(chunk: Buffer, offset: number): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, offset, offset + HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += taken;
    return taken;
  }

  #begin(): void {
    this.#type = this.#header.readUInt8(0);
    this.#streamId = this.#header.readUInt32BE(1);
    this.#missingBytes = this.#header.readUInt32BE(5);
    const rule = RULES[this.#type];
    const most = rule?.most ?? MAX_METADATA_BYTES;
    const isRightLength = this.#missingBytes >= (rule?.least ?? 0) && this.#missingBytes <= most;
    if (!isRightLength || (rule !== undefined && rule.ofStream === (this.#streamId === 0))) {
      throw new ProtocolViolation(
        MUX_CODES.PROTOCOL_ERROR,
        `type ${this.#type}, ${this.#missingBytes} bytes, stream ${this.#streamId}`,
      );
    }
    if (this.#type === FRAME.DATA) this.#handler.dataBegins(this.#streamId, this.#missingBytes);
    else if (this.#missingBytes === 0) this.#finish(NOTHING);
  }

  #takePayload(slice: Buffer): void {
    this.#missingBytes -= slice.length;
    if (this.#type === FRAME.DATA) {
      this.#handler.data(this.#streamId, slice);
    } else if (this.#partialBytes === 0 && this.#missingBytes === 0) {
      this.#finish(slice);
    } else {
      // One buffer of the frame's bounded length instead of the pieces, which would cost a hundred times their size if
      // bytewise.
      if (this.#partialBytes === 0) this.#partial = Buffer.allocUnsafeSlow(slice.length + this.#missingBytes);
      this.#partialBytes += slice.copy(this.#partial, this.#partialBytes);
      if (this.#missingBytes > 0) return;
      const payload = this.#partial;
      this.#partial = NOTHING;
      this.#partialBytes = 0;
      this.#finish(payload);
    }
  }

  #finish(payload: Buffer): void {
    if (this.#type < RULES.length) this.#handler.frame(this.#type, this.#streamId, payload);
  }
}
