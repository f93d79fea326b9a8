import { FRAME_HEADER_BYTES } from '@svc/link';
import { retainedBytes } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  type FrameSink,
  encodeDataFrame,
  encodeFrame,
  FrameType,
  MAX_PAYLOAD_BYTES,
  ProtocolViolation,
} from './frames.ts';

interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: number[];
}

/** Reassembles data pieces. `decodeAll` overwrites each buffer after the call, because it is only lent. */
class Gathered implements FrameSink {
  readonly frames: Frame[] = [];
  #opened = 0;
  costBytes = 0;

  frame(type: number, stream: number, payload: Buffer): void {
    this.frames.push({ type, stream, payload: [...payload] });
  }

  data(stream: number, channel: number, bytes: Buffer, costBytes: number): void {
    this.costBytes += costBytes;
    if (costBytes > bytes.length) {
      this.frames.push({ type: FrameType.data, stream, payload: [channel] });
      this.#opened += 1;
    }
    this.frames.at(-1)?.payload.push(...bytes);
  }

  get dataFrames(): number {
    return this.#opened;
  }
}

const frames = fc.array(
  fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    stream: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    payload: fc.uint8Array({ minLength: 1, maxLength: 400 }),
  }),
  { maxLength: 20 },
);

function decodeAll(bytes: Buffer, cuts: readonly number[]): Gathered {
  const found = new Gathered();
  const decoder = createFrameDecoder(found);
  const lent = Buffer.alloc(bytes.length); // one buffer that is reused, as in the connection
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  for (let start = 0, index = 0; start < bytes.length; index += 1) {
    const end = places[index] ?? bytes.length;
    if (end > start) {
      bytes.copy(lent, 0, start, end);
      decoder.push(lent.subarray(0, end - start));
      start = end;
    }
  }
  return found;
}

describe('FrameDecoder', () => {
  it('returns every frame, however the bytes are split', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 30 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map((frame) => encodeFrame(frame.type, frame.stream, frame.payload)));
        const found = decodeAll(bytes, cuts);
        expect(found.frames).toEqual(
          sent.map(({ type, stream, payload }) => ({ type, stream, payload: [...payload] })),
        );
        const data = sent.filter(({ type }) => type === FrameType.data);
        expect(found.dataFrames).toBe(data.length);
        expect(found.costBytes).toBe(data.reduce((sum, { payload }) => sum + payload.length, 0));
      }),
    );
  });

  it('throws only protocol violations on any input, and never holds more than one frame', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 20 }), (chunks) => {
        const found = new Gathered();
        const decoder = createFrameDecoder(found);
        try {
          for (const chunk of chunks) decoder.push(Buffer.from(chunk));
          for (const { payload } of found.frames) expect(payload.length).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolViolation);
        }
      }),
    );
  });

  it('refuses an oversized frame as soon as its header has arrived', () => {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUInt32BE(MAX_PAYLOAD_BYTES + 1, 0);
    const decoder = createFrameDecoder(new Gathered());
    decoder.push(header.subarray(0, 8));
    expect(() => decoder.push(header.subarray(8))).toThrow(ProtocolViolation);
  });

  it('holds about the size of a frame that arrives byte by byte, and little for a header alone', () => {
    const found = new Gathered();
    const decoder = createFrameDecoder(found);
    const frame = encodeFrame(FrameType.control, 1, Buffer.alloc(MAX_PAYLOAD_BYTES, 'x'));
    const byte = Buffer.alloc(1);
    const push = (from: number, to: number): void => {
      for (let index = from; index < to; index += 1) {
        frame.copy(byte, 0, index, index + 1);
        decoder.push(byte);
      }
    };
    const before = retainedBytes();
    push(0, FRAME_HEADER_BYTES + 1);
    expect(retainedBytes() - before).toBeLessThan(MAX_PAYLOAD_BYTES / 2);
    push(FRAME_HEADER_BYTES + 1, frame.length - 1);
    expect(retainedBytes() - before).toBeLessThan(2 * MAX_PAYLOAD_BYTES);
    push(frame.length - 1, frame.length);
    expect(found.frames.map(({ payload }) => payload.length)).toEqual([MAX_PAYLOAD_BYTES]);
  });

  it('passes on frames without a payload, and refuses data without a channel', () => {
    const found = new Gathered();
    const decoder = createFrameDecoder(found);
    decoder.push(encodeFrame(FrameType.pong, 0, Buffer.alloc(0)));
    expect(found.frames).toEqual([{ type: FrameType.pong, stream: 0, payload: [] }]);
    expect(() => decoder.push(encodeFrame(FrameType.data, 1, Buffer.alloc(0)))).toThrow(ProtocolViolation);
  });

  it('passes on data before the rest of its frame has arrived', () => {
    const found = new Gathered();
    const decoder = createFrameDecoder(found);
    decoder.push(encodeDataFrame(7, 2, Buffer.from('oh, more')).subarray(0, -6));
    expect(found.frames).toEqual([{ type: FrameType.data, stream: 7, payload: [2, ...Buffer.from('oh')] }]);
  });
});
