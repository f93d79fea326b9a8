import { FRAME_HEADER_BYTES, FrameDecoder } from '@svc/link';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { ProtocolViolation } from './errors.ts';
import { MUX_FRAMES } from './frames.ts';

/** Returns the decoded events with joined data, and how decoding ended. */
function decode(pieces: readonly Buffer[]): string[] {
  const heard: string[] = [];
  let data = '';
  const flush = (): void => {
    if (data !== '') heard.push(data);
    data = '';
  };
  const decoder = new FrameDecoder(MUX_FRAMES, {
    dataBegins: (streamId, lengthBytes) => {
      flush();
      heard.push(`data of ${streamId}: ${lengthBytes}`);
    },
    data: (_streamId, slice) => {
      expect(slice.length).toBeGreaterThan(0);
      data += slice.toString('hex');
    },
    frame: (type, streamId, payload) => {
      flush();
      heard.push(`${type} of ${streamId}: ${payload.toString('hex')}`);
    },
  });
  try {
    for (const piece of pieces) decoder.push(piece);
  } catch (error) {
    if (!(error instanceof ProtocolViolation)) throw error;
    heard.push(`violation: ${error.message}`);
  }
  flush();
  return heard;
}

function frame(type: number, streamId: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(streamId, 1);
  header.writeUInt32BE(bytes.length, 5);
  return Buffer.concat([header, bytes]);
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describeFuzz({
  name: 'the frame decoder of the mux',
  corpus: new URL('./corpus/frame-decoder/', import.meta.url),
  seeds: [
    frame(0, 1, 'hello'),
    Buffer.concat([frame(1, 1, '{"service":"kubernetes"}'), frame(0, 1, 'a'), frame(2, 1, '')]),
    Buffer.concat([frame(3, 1, Buffer.concat([number(7), Buffer.from('why')])), frame(4, 1, number(65_536))]),
    Buffer.concat([frame(5, 0, Buffer.alloc(8)), frame(6, 0, Buffer.alloc(8)), frame(7, 0, number(0))]),
    frame(200, 0, 'unknown'),
  ],
  dictionary: ['\0\0\0\0', '\0\0\0\x01', '\x05\0\0\0\0\0\0\0\x08', '\x02\0\0\0\x01\0\0\0\0', '\xff\xff\xff\xff'],
  run: (input) => {
    const whole = decode([input]);
    expect(decode(Array.from({ length: input.length }, (_, at) => input.subarray(at, at + 1)))).toEqual(whole);
  },
});
