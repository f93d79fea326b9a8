import { FRAME_HEADER_BYTES, FrameDecoder, type FrameFormat } from '@svc/link';

/** The wire format between platform and helper. `native/sandbox-agent/PROTOCOL.md` describes it. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Maximum size of a data frame that we send, so that no stream holds the connection for long. */
export const MAX_DATA_BYTES = 128 * 1024;
/** Initial credit of each side on a new stream. A data frame costs its whole payload. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/**
 * Total credit of a transfer. With less, a transfer spends its time switching between processes while it waits for
 * credit.
 */
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

/** The helper violated the protocol; its connection must be closed. */
export class ProtocolViolation extends Error {}

const HELPER_FRAMES: FrameFormat = {
  lengthAt: 0,
  typeAt: 4,
  streamAt: 5,
  dataType: FrameType.data,
  check: (type, _stream, lengthBytes) => {
    if (lengthBytes > MAX_PAYLOAD_BYTES) throw new ProtocolViolation('a frame is longer than the limit');
    if (type === FrameType.data && lengthBytes === 0) throw new ProtocolViolation('a data frame names no channel');
  },
};

/** Receives frames. Every buffer is a view that is valid only during the call; copy bytes to keep them. */
export interface FrameSink {
  /** Receives a whole frame of any type except data. */
  frame(type: number, stream: number, payload: Buffer): void;
  /**
   * Receives a piece of a data frame as it arrives. `costBytes` is its cost in the window: its length, plus the channel
   * byte for the first piece.
   */
  data(stream: number, channel: number, bytes: Buffer, costBytes: number): void;
}

/** Creates a decoder that also splits the channel byte from each data frame. */
export function createFrameDecoder(sink: FrameSink): FrameDecoder {
  let channel: number | null = null;
  return new FrameDecoder(HELPER_FRAMES, {
    dataBegins: () => {
      channel = null;
    },
    data: (stream, slice) => {
      if (channel === null) {
        channel = slice.readUInt8(0);
        sink.data(stream, channel, slice.subarray(1), slice.length);
      } else {
        sink.data(stream, channel, slice, slice.length);
      }
    },
    frame: (type, stream, payload) => sink.frame(type, stream, payload),
  });
}

export function encodeFrame(type: number, stream: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32BE(stream, 5);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

/** Whether `encodeJsonFrame` takes the value. */
export function fitsInFrame(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= MAX_PAYLOAD_BYTES;
}

export function encodeJsonFrame(type: number, stream: number, value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  if (payload.length > MAX_PAYLOAD_BYTES) throw new RangeError('the request is larger than a frame may be');
  return encodeFrame(type, stream, payload);
}

/** Header and channel byte of a data frame. Channels: 0 stdin, 1 stdout, 2 stderr. */
export function dataFrameHead(stream: number, channel: number, sizeBytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 1);
  head.writeUInt32BE(sizeBytes + 1, 0);
  head.writeUInt8(FrameType.data, 4);
  head.writeUInt32BE(stream, 5);
  head.writeUInt8(channel, FRAME_HEADER_BYTES);
  return head;
}

/** Encodes a data frame as one buffer, for payloads too small for two writes. */
export function encodeDataFrame(stream: number, channel: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([dataFrameHead(stream, channel, bytes.length), bytes]);
}
