import { FRAME_HEADER_BYTES, FrameType, MAX_PAYLOAD_BYTES, ProtocolViolation } from './frames.ts';

/** Receives frames. Every buffer is a view that is valid only during the call; copy bytes to keep them. */
export interface FrameSink {
  /** Receives a whole frame of any type except data. */
  frame(type: number, stream: number, payload: Buffer): void;
  /**
   * Receives a piece of a data frame as it arrives; data frames are never buffered. `costBytes` is its cost in the
   * window: its length, plus the channel byte for the first piece.
   */
  data(stream: number, channel: number, bytes: Buffer, costBytes: number): void;
}

const NOTHING = Buffer.alloc(0);
const FIRST_HELD_BYTES = 4096;

/**
 * Splits a byte stream into frames, regardless of how it was fragmented. Data bytes pass through without buffering. For
 * other frames, at most one unfinished frame is held, in a buffer that grows with the bytes that arrived: never beyond
 * the frame's length, which `MAX_PAYLOAD_BYTES` bounds, and never for a header alone. A longer frame is rejected as
 * soon as its header has arrived.
 */
export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #stream = 0;
  /** Remaining bytes of the frame. */
  #leftBytes = 0;
  /** Channel of a data frame; null until its first byte has arrived. */
  #channel: number | null = null;
  /** The partial frame, in the first `#heldBytes` bytes. */
  #held = NOTHING;
  #heldBytes = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Throws `ProtocolViolation` and anything the sink throws. The decoder must not be used after that. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) {
        offset = this.#takeHeader(chunk, offset);
        if (this.#headerBytes < FRAME_HEADER_BYTES) return;
        if (this.#leftBytes === 0) this.#finish(NOTHING);
      } else if (this.#type === FrameType.data) {
        offset = this.#takeData(chunk, offset);
      } else {
        offset = this.#takePayload(chunk, offset);
      }
    }
  }

  #takeHeader(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + FRAME_HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += chunk.copy(this.#header, this.#headerBytes, offset, end);
    if (this.#headerBytes < FRAME_HEADER_BYTES) return end;
    this.#leftBytes = this.#header.readUInt32BE(0);
    this.#type = this.#header.readUInt8(4);
    this.#stream = this.#header.readUInt32BE(5);
    this.#channel = null;
    if (this.#leftBytes > MAX_PAYLOAD_BYTES) throw new ProtocolViolation('a frame is longer than the limit');
    if (this.#type === FrameType.data && this.#leftBytes === 0) {
      throw new ProtocolViolation('a data frame names no channel');
    }
    return end;
  }

  #takeData(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.#leftBytes);
    const isFirst = this.#channel === null;
    const channel = this.#channel ?? chunk.readUInt8(offset);
    this.#channel = channel;
    this.#leftBytes -= end - offset;
    if (this.#leftBytes === 0) this.#headerBytes = 0; // before the call, which may throw
    this.#sink.data(this.#stream, channel, chunk.subarray(isFirst ? offset + 1 : offset, end), end - offset);
    return end;
  }

  #takePayload(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.#leftBytes);
    const piece = chunk.subarray(offset, end);
    this.#leftBytes -= piece.length;
    if (this.#leftBytes === 0 && this.#heldBytes === 0) this.#finish(piece);
    else this.#hold(piece);
    return end;
  }

  #hold(piece: Buffer): void {
    const neededBytes = this.#heldBytes + piece.length;
    if (neededBytes > this.#held.length) {
      const frameBytes = neededBytes + this.#leftBytes;
      const grown = Buffer.allocUnsafeSlow(
        Math.min(frameBytes, Math.max(FIRST_HELD_BYTES, neededBytes, 2 * this.#held.length)),
      );
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#heldBytes);
    this.#heldBytes = neededBytes;
    if (this.#leftBytes === 0) this.#finish(this.#held.subarray(0, neededBytes));
  }

  #finish(payload: Buffer): void {
    this.#held = NOTHING;
    this.#heldBytes = 0;
    this.#headerBytes = 0;
    this.#sink.frame(this.#type, this.#stream, payload);
  }
}
