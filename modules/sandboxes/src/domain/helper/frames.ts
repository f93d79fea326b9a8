/** The wire format between platform and helper; `native/sandbox-agent/PROTOCOL.md` describes it. */
export const FRAME_HEADER_BYTES = 9;
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** What one data frame of ours carries at most, so that no stream holds the connection for long. */
export const MAX_DATA_BYTES = 128 * 1024;
/** What each side may send on a fresh stream before the other grants more; a data frame costs its whole payload. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** What a transfer is granted in all: one that waits for each grant spends its time on switching between processes. */
export const TRANSFER_WINDOW_BYTES = 1024 * 1024;

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

/** What stands before the bytes of a data frame: the header and the channel, 0 stdin, 1 stdout, 2 stderr. */
export function dataFrameHead(stream: number, channel: number, sizeBytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 1);
  head.writeUInt32BE(sizeBytes + 1, 0);
  head.writeUInt8(FrameType.data, 4);
  head.writeUInt32BE(stream, 5);
  head.writeUInt8(channel, FRAME_HEADER_BYTES);
  return head;
}

/** Both in one piece, for what is too small to be worth two. */
export function encodeDataFrame(stream: number, channel: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([dataFrameHead(stream, channel, bytes.length), bytes]);
}
