import { FrameDecoder } from '@svc/link';
import { retainedBytes } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MuxError, ProtocolViolation } from './errors.ts';
import {
  appendData,
  decodeEnd,
  encodeEnd,
  encodeFrame,
  FRAME,
  MAX_METADATA_BYTES,
  writeHeader,
  MUX_FRAMES,
} from './frames.ts';

interface Seen {
  type: number;
  streamId: number;
  payload: string;
}

/** Decodes and joins the slices of each DATA frame. */
function decode(chunks: readonly Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const announced: number[] = [];
  let slices: Buffer[] = [];
  const decoder = new FrameDecoder(MUX_FRAMES, {
    dataBegins: (streamId, lengthBytes) => {
      announced.push(lengthBytes);
      slices = [];
      if (lengthBytes === 0) seen.push({ type: FRAME.DATA, streamId, payload: '' });
    },
    data: (streamId, slice) => {
      slices.push(slice);
      const payload = Buffer.concat(slices);
      if (payload.length === announced.at(-1))
        seen.push({ type: FRAME.DATA, streamId, payload: payload.toString('hex') });
    },
    frame: (type, streamId, payload) => void seen.push({ type, streamId, payload: payload.toString('hex') }),
  });
  for (const chunk of chunks) decoder.push(chunk);
  return seen;
}

function rawFrame(
  type: number,
  streamId: number,
  announcedBytes: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const header = Buffer.alloc(9);
  writeHeader(header, type, streamId, announcedBytes);
  return Buffer.concat([header, payload]);
}

/** Cuts the bytes at these offsets, in any order and number. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const streamId = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((part) => Buffer.from(part));
const frame = fc.oneof(
  fc.record({ type: fc.constant(FRAME.DATA), streamId, payload: bytes(0, 3_000) }),
  fc.record({ type: fc.constant(FRAME.OPEN), streamId, payload: bytes(0, 200) }),
  fc.record({ type: fc.constant(FRAME.FIN), streamId, payload: bytes(0, 0) }),
  fc.record({ type: fc.constant(FRAME.RESET), streamId, payload: bytes(4, 40) }),
  fc.record({ type: fc.constant(FRAME.WINDOW), streamId, payload: bytes(4, 4) }),
  fc.record({ type: fc.constantFrom(FRAME.PING, FRAME.PONG), streamId: fc.constant(0), payload: bytes(8, 8) }),
  fc.record({ type: fc.constant(FRAME.GOAWAY), streamId: fc.constant(0), payload: bytes(4, 40) }),
);

describe('FrameDecoder', () => {
  it('decodes what was encoded, for any split of the bytes', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 30 }), (frames, places) => {
        const chunks: Buffer[] = [];
        for (const { type, streamId: id, payload } of frames) {
          if (type === FRAME.DATA) appendData(chunks, id, cut(payload, [7, 99]), payload.length);
          else chunks.push(encodeFrame(type, id, payload));
        }
        const expected = frames.map((each) => ({ ...each, payload: each.payload.toString('hex') }));
        expect(decode(cut(Buffer.concat(chunks), places))).toEqual(expected);
      }),
    );
  });

  it('throws nothing but its own errors for any bytes', () => {
    fc.assert(
      fc.property(fc.array(bytes(0, 64), { maxLength: 40 }), (chunks) => {
        try {
          decode(chunks);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolViolation);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('passes DATA on as views of the input, never as copies', () => {
    const chunk = Buffer.concat([rawFrame(FRAME.DATA, 1, 100_000), Buffer.alloc(70_000, 'x')]);
    const slices: Buffer[] = [];
    const decoder = new FrameDecoder(MUX_FRAMES, {
      dataBegins: () => undefined,
      data: (_id, slice) => void slices.push(slice),
      frame: () => undefined,
    });
    decoder.push(chunk);
    decoder.push(Buffer.alloc(30_000, 'y'));
    expect(slices.map((slice) => slice.length)).toEqual([70_000, 30_000]);
    expect(slices[0]?.buffer).toBe(chunk.buffer);
  });

  it.each([
    ['DATA above 256 KiB', FRAME.DATA, 1, 256 * 1024 + 1],
    ['OPEN above 4 KiB', FRAME.OPEN, 1, 4097],
    ['FIN with a payload', FRAME.FIN, 1, 1],
    ['RESET without a code', FRAME.RESET, 1, 3],
    ['RESET with an endless reason', FRAME.RESET, 1, 1029],
    ['WINDOW of another size', FRAME.WINDOW, 1, 8],
    ['PING of another size', FRAME.PING, 0, 4],
    ['GOAWAY with an endless reason', FRAME.GOAWAY, 0, 1029],
    ['an unknown type above 4 KiB', 99, 1, 4097],
    ['DATA of no stream', FRAME.DATA, 0, 1],
    ['PING of a stream', FRAME.PING, 1, 8],
  ])('rejects %s as soon as the header is complete', (_what, type, id, lengthBytes) => {
    expect(() => decode([rawFrame(type, id, lengthBytes)])).toThrow(MuxError);
  });

  it('accepts types reserved for later versions, for the session to skip', () => {
    const later = rawFrame(200, 5, 3, Buffer.from('abc'));
    const ping = encodeFrame(FRAME.PING, 0, Buffer.alloc(8));
    expect(decode(cut(Buffer.concat([later, ping, rawFrame(8, 0, 0), ping]), [3, 11])).map(({ type }) => type)).toEqual(
      [200, FRAME.PING, 8, FRAME.PING],
    );
  });

  it('holds about the size of a control frame that arrives byte by byte', () => {
    const frames: Buffer[] = [];
    const ignore = (): void => undefined;
    const open = encodeFrame(FRAME.OPEN, 1, Buffer.alloc(MAX_METADATA_BYTES, 'x'));
    const decoders = Array.from({ length: 50 }, () => {
      return new FrameDecoder(MUX_FRAMES, {
        dataBegins: ignore,
        data: ignore,
        frame: (_type, _id, payload) => frames.push(payload),
      });
    });
    const before = retainedBytes();
    for (const decoder of decoders) {
      for (let index = 0; index < open.length - 1; index += 1) decoder.push(open.subarray(index, index + 1));
    }
    expect(retainedBytes() - before).toBeLessThan(2 * decoders.length * open.length);
    for (const decoder of decoders) decoder.push(open.subarray(-1));
    expect(frames.map((payload) => payload.length)).toEqual(decoders.map(() => MAX_METADATA_BYTES));
  });
});

describe('a frame’s reason', () => {
  it('is truncated at 1,024 bytes, never inside a character', () => {
    for (const reason of ['x'.repeat(5_000), 'ä'.repeat(5_000), `x${'🙂'.repeat(2_000)}`]) {
      const decoded = decodeEnd(encodeEnd(FRAME.RESET, 1, 7, reason).subarray(9));
      expect(decoded.code).toBe(7);
      expect(Buffer.byteLength(decoded.reason)).toBeLessThanOrEqual(1024);
      expect(Buffer.byteLength(decoded.reason)).toBeGreaterThan(1000);
      expect(reason.startsWith(decoded.reason)).toBe(true);
    }
  });
});
