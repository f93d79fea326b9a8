import { FRAME_HEADER_BYTES, type FrameFormat } from '@svc/link';
import { MUX_CODES, ProtocolViolation } from './errors.ts';

/** The wire format of PROTOCOL.md. */
export const FRAME = { DATA: 0, OPEN: 1, FIN: 2, RESET: 3, WINDOW: 4, PING: 5, PONG: 6, GOAWAY: 7 } as const;

/** Maximum payload of a DATA frame. */
export const MAX_DATA_BYTES = 256 * 1024;
/** Maximum payload of an OPEN frame, and of frames with an unknown type, which are skipped. */
export const MAX_METADATA_BYTES = 4096;
/** Maximum reason in a RESET or GOAWAY frame, in bytes of UTF-8. */
export const MAX_REASON_BYTES = 1024;
/** Payload size of PING and PONG, exactly. */
export const PING_BYTES = 8;
/** Credit of each direction of a new stream. */
export const INITIAL_WINDOW_BYTES = 1024 * 1024;
/** Maximum outstanding credit of one direction of a stream. More is a FLOW_CONTROL_ERROR. */
export const MAX_CREDIT_BYTES = 2 ** 31 - 1;
/** Highest stream id. A connection that has used up its ids opens no more streams. */
export const MAX_STREAM_ID = 2 ** 31 - 1;

/** Minimum and maximum payload of each type, and whether the frame belongs to a stream. */
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

/** Header and limits of frames. Frames of unknown types are accepted up to a size, to be skipped. */
export const MUX_FRAMES: FrameFormat = {
  typeAt: 0,
  streamAt: 1,
  lengthAt: 5,
  dataType: FRAME.DATA,
  check: (type, streamId, lengthBytes) => {
    const rule = RULES[type];
    const isRightLength = lengthBytes >= (rule?.least ?? 0) && lengthBytes <= (rule?.most ?? MAX_METADATA_BYTES);
    if (isRightLength && rule?.ofStream !== (streamId === 0)) return;
    throw new ProtocolViolation(MUX_CODES.PROTOCOL_ERROR, `type ${type}, ${lengthBytes} bytes, stream ${streamId}`);
  },
};

/** Below this, one buffer with header and payload is cheaper than two in a vector. */
const JOINED_BYTES = 1024;

/** Writes a frame header at the start of the target. */
export function writeHeader(target: Buffer, type: number, streamId: number, length: number): void {
  target[0] = type;
  target.writeUInt32BE(streamId, 1);
  target.writeUInt32BE(length, 5);
}

/** Encodes one complete frame. */
export function encodeFrame(type: number, streamId: number, payload?: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + (payload?.length ?? 0));
  writeHeader(frame, type, streamId, payload?.length ?? 0);
  if (payload !== undefined) frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

/** Encodes a WINDOW frame, which grants the peer credit. */
export function encodeWindow(streamId: number, creditBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 4);
  writeHeader(frame, FRAME.WINDOW, streamId, 4);
  frame.writeUInt32BE(creditBytes, FRAME_HEADER_BYTES);
  return frame;
}

/** Encodes the RESET of a stream, or GOAWAY with stream 0. */
export function encodeEnd(type: number, streamId: number, code: number, reason: string): Buffer {
  const text = truncateUtf8(reason);
  const payload = Buffer.allocUnsafe(4 + text.length);
  payload.writeUInt32BE(code, 0);
  payload.set(text, 4);
  return encodeFrame(type, streamId, payload);
}

/** Decodes the payload of RESET or GOAWAY. */
export function decodeEnd(payload: Buffer): { code: number; reason: string } {
  return { code: payload.readUInt32BE(0), reason: payload.toString('utf8', 4) };
}

/** Appends one DATA frame with these slices as its payload; passes them on without copying unless they are small. */
export function appendData(chunks: Buffer[], streamId: number, slices: readonly Buffer[], lengthBytes: number): void {
  if (lengthBytes <= JOINED_BYTES) {
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + lengthBytes);
    writeHeader(frame, FRAME.DATA, streamId, lengthBytes);
    let offset = FRAME_HEADER_BYTES;
    for (const slice of slices) {
      frame.set(slice, offset);
      offset += slice.length;
    }
    chunks.push(frame);
    return;
  }
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  writeHeader(header, FRAME.DATA, streamId, lengthBytes);
  chunks.push(header, ...slices);
}

/** Truncates at a character boundary. */
function truncateUtf8(text: string): Buffer {
  const bytes = Buffer.from(text.slice(0, MAX_REASON_BYTES));
  if (bytes.length <= MAX_REASON_BYTES) return bytes;
  let end = MAX_REASON_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
