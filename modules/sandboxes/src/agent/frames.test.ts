import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeDataFrame,
  encodeFrame,
  FRAME_HEADER_BYTES,
  FrameDecoder,
  MAX_PAYLOAD_BYTES,
  ProtocolViolation,
  type Frame,
} from './frames.ts';

const frames = fc.array(
  fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    stream: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    payload: fc.uint8Array({ maxLength: 400 }),
  }),
  { maxLength: 20 },
);

function decodeAll(bytes: Buffer, cuts: readonly number[]): Frame[] {
  const decoder = new FrameDecoder();
  const found: Frame[] = [];
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  for (let start = 0, index = 0; start < bytes.length; index += 1) {
    const end = places[index] ?? bytes.length;
    if (end > start) {
      for (const frame of decoder.push(Buffer.from(bytes.subarray(start, end)))) found.push(frame);
      start = end;
    }
  }
  return found;
}

describe('FrameDecoder', () => {
  it('gives back every frame, wherever the bytes were cut', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 30 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map((frame) => encodeFrame(frame.type, frame.stream, frame.payload)));
        const found = decodeAll(bytes, cuts);
        expect(found.map(({ type, stream, payload }) => ({ type, stream, payload: [...payload] }))).toEqual(
          sent.map(({ type, stream, payload }) => ({ type, stream, payload: [...payload] })),
        );
      }),
    );
  });

  it('takes any bytes without throwing anything but a protocol violation, and never holds more than one frame', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 20 }), (chunks) => {
        const decoder = new FrameDecoder();
        try {
          for (const chunk of chunks) {
            for (const frame of decoder.push(Buffer.from(chunk))) {
              expect(frame.payload.length).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
            }
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolViolation);
        }
      }),
    );
  });

  it('refuses a frame above the limit as soon as its header is there', () => {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUInt32BE(MAX_PAYLOAD_BYTES + 1, 0);
    const decoder = new FrameDecoder();
    expect(() => [...decoder.push(header.subarray(0, 8)), ...decoder.push(header.subarray(8))]).toThrow(
      ProtocolViolation,
    );
  });

  it('puts the channel before the bytes of a data frame', () => {
    const [frame] = [...new FrameDecoder().push(encodeDataFrame(7, 2, Buffer.from('oh')))];
    expect(frame).toEqual({ type: 3, stream: 7, payload: Buffer.from('\u0002oh') });
  });
});
