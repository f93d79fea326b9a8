/** The wire format between platform and helper; `native/sandbox-agent/PROTOCOL.md` describes it. */
export const FRAME_HEADER_BYTES = 9;
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** What one data frame of ours carries at most, so that no stream holds the connection for long. */
export const MAX_DATA_BYTES = 64 * 1024 - 1;
/** What each side may send on a fresh stream before the other grants more; a data frame costs its whole payload. */
export const STREAM_WINDOW_BYTES = 256 * 1024;

export const FrameType = {
  hello: 0x01,
  open: 0x02,
  data: 0x03,
  control: 0x04,
  credit: 0x05,
  end: 0x06,
  reset: 0x07,
  ping: 0x08,
  pong: 0x09,
} as const;

export interface Frame {
  readonly type: number;
  readonly stream: number;
  /** A view into the received bytes. */
  readonly payload: Buffer;
}

/** The helper broke the protocol; its connection is of no more use. */
export class ProtocolViolation extends Error {}

export function encodeFrame(type: number, stream: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32BE(stream, 5);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

export function encodeJsonFrame(type: number, stream: number, value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  if (payload.length > MAX_PAYLOAD_BYTES) throw new RangeError('the request is larger than a frame may be');
  return encodeFrame(type, stream, payload);
}

/** A data frame is a channel byte and the bytes of that channel: 0 stdin, 1 stdout, 2 stderr. */
export function encodeDataFrame(stream: number, channel: number, bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 1 + bytes.length);
  frame.writeUInt32BE(bytes.length + 1, 0);
  frame.writeUInt8(FrameType.data, 4);
  frame.writeUInt32BE(stream, 5);
  frame.writeUInt8(channel, FRAME_HEADER_BYTES);
  frame.set(bytes, FRAME_HEADER_BYTES + 1);
  return frame;
}

/**
 * Cuts a byte stream into frames, however it was chopped on its way. Holds at most one unfinished frame, which is
 * bounded by `MAX_PAYLOAD_BYTES`; a longer one is refused as soon as its header is there.
 */
export class FrameDecoder {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #neededBytes = FRAME_HEADER_BYTES;

  /** Throws `ProtocolViolation`; the decoder must not be used after that. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes < this.#neededBytes) return;
    const bytes = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending, this.#pendingBytes);
    let offset = 0;
    this.#neededBytes = FRAME_HEADER_BYTES;
    while (bytes.length - offset >= FRAME_HEADER_BYTES) {
      const payloadBytes = bytes.readUInt32BE(offset);
      if (payloadBytes > MAX_PAYLOAD_BYTES) throw new ProtocolViolation('a frame is longer than the limit');
      const frameBytes = FRAME_HEADER_BYTES + payloadBytes;
      if (bytes.length - offset < frameBytes) {
        this.#neededBytes = frameBytes;
        break;
      }
      yield {
        type: bytes.readUInt8(offset + 4),
        stream: bytes.readUInt32BE(offset + 5),
        payload: bytes.subarray(offset + FRAME_HEADER_BYTES, offset + frameBytes),
      };
      offset += frameBytes;
    }
    const rest = bytes.subarray(offset);
    this.#pending = rest.length === 0 ? [] : [rest];
    this.#pendingBytes = rest.length;
  }
}
