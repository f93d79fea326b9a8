import { FRAME_HEADER_BYTES, FrameType, MAX_PAYLOAD_BYTES, ProtocolViolation } from './frames.ts';

/** Where frames go. Every buffer is a view that is valid during the call only: who keeps bytes copies them. */
export interface FrameSink {
  /** A whole frame of any type but data. */
  frame(type: number, stream: number, payload: Buffer): void;
  /**
   * A piece of a data frame, handed on as it arrives: the frame is never held. `costBytes` is what it takes of the window:
   * its length, and the channel byte with the first piece.
   */
  data(stream: number, channel: number, bytes: Buffer, costBytes: number): void;
}

const NOTHING = Buffer.alloc(0);
const FIRST_HELD_BYTES = 4096;

/**
 * Cuts a byte stream into frames, however it was chopped on its way. Bytes of data pass through as they are. Of every other
 * frame at most one unfinished one is held, in one buffer that grows with what has arrived: never beyond the frame's length,
 * which is bounded by `MAX_PAYLOAD_BYTES`, and never for a header alone. A longer frame is refused as soon as its header is
 * there.
 */
export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #type = 0;
  #stream = 0;
  /** What the frame still lacks. */
  #leftBytes = 0;
  /** Of a data frame; null until its first byte is there. */
  #channel: number | null = null;
  /** The beginning of a frame that is cut, in its first `#heldBytes`. */
  #held = NOTHING;
  #heldBytes = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Throws `ProtocolViolation`, and whatever the sink throws; the decoder must not be used after that. */
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
    if (this.#leftBytes === 0) this.#headerBytes = 0; // before the call: it may throw
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
