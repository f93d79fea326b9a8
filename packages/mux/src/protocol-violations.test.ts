import { duplexPair, type Duplex } from 'node:stream';
import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { duplexTransport } from './duplex-transport.ts';
import { MUX_CODES } from './errors.ts';
import { encodeEnd, encodeFrame, encodeWindow, FRAME, INITIAL_WINDOW_BYTES, MAX_CREDIT_BYTES } from './frames.ts';
import { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';

/** A session and the raw peer end of its transport, for arbitrary bytes. */
let session: MuxSession;
let peer: Duplex;
let clock: FakeClock;
let accepted: MuxStream[];
let received: Buffer[];

beforeEach(start);
afterEach(async () => {
  session.close();
  peer.destroy();
  await session.closed;
  expect(clock.pendingTimers()).toBe(0);
});

function start(): void {
  const [end, other] = duplexPair();
  peer = other;
  received = [];
  accepted = [];
  clock = fakeClock();
  peer.on('data', (chunk: Buffer) => void received.push(chunk));
  peer.on('error', () => undefined);
  session = new MuxSession(duplexTransport(end), {
    role: 'server',
    clock,
    onStream: (stream) => void accepted.push(stream),
    limits: { maxIncomingStreams: 4 },
  });
}

const open = (id: number) => encodeFrame(FRAME.OPEN, id, Buffer.from('x'));
const data = (id: number, bytes: number) => encodeFrame(FRAME.DATA, id, Buffer.alloc(bytes));
const fin = (id: number) => encodeFrame(FRAME.FIN, id);
const filled = (id: number) => Array.from({ length: 8 }, () => data(id, INITIAL_WINDOW_BYTES / 8));

describe('protocol violations', () => {
  it.each<[string, number, Buffer[]]>([
    ['an OPEN with one of our ids', MUX_CODES.PROTOCOL_ERROR, [open(2)]],
    ['an OPEN with an id that was used', MUX_CODES.PROTOCOL_ERROR, [open(3), open(3)]],
    ['an OPEN with a lower id', MUX_CODES.PROTOCOL_ERROR, [open(5), open(3)]],
    ['an OPEN with an id that is too large', MUX_CODES.PROTOCOL_ERROR, [open(2 ** 31 + 1)]],
    ['DATA of a stream that was never opened', MUX_CODES.PROTOCOL_ERROR, [data(1, 1)]],
    ['FIN of a stream that we never opened', MUX_CODES.PROTOCOL_ERROR, [fin(2)]],
    ['DATA after FIN', MUX_CODES.PROTOCOL_ERROR, [open(1), fin(1), data(1, 1)]],
    ['FIN twice', MUX_CODES.PROTOCOL_ERROR, [open(1), fin(1), fin(1)]],
    ['more DATA than credit', MUX_CODES.FLOW_CONTROL_ERROR, [open(1), ...filled(1), data(1, 1)]],
    ['a credit of nothing', MUX_CODES.FLOW_CONTROL_ERROR, [open(1), encodeWindow(1, 0)]],
    ['more credit than can be counted', MUX_CODES.FLOW_CONTROL_ERROR, [open(1), encodeWindow(1, MAX_CREDIT_BYTES)]],
    ['a frame that is too long', MUX_CODES.PROTOCOL_ERROR, [open(1), Buffer.from('00000000010fffffff', 'hex')]],
  ])('ends the session with a reason after %s', async (_what, code, frames) => {
    for (const frame of frames) peer.write(frame);
    const end = await waitFor(() => {
      const bytes = Buffer.concat(received);
      const at = bytes.indexOf(encodeEnd(FRAME.GOAWAY, 0, code, '').subarray(0, 5));
      return at < 0 ? null : bytes.subarray(at);
    });
    expect(end.readUInt32BE(9)).toBe(code);
    peer.end();
    expect(await session.closed).toMatchObject({ resetCode: code, remote: false });
    expect(accepted.every((stream) => stream.destroyed)).toBe(true);
  });

  it('ignores frames that crossed its own RESET', async () => {
    peer.write(open(1));
    const stream = await waitFor(() => accepted[0]);
    stream.reset(300);
    for (const frame of [data(1, 10), encodeWindow(1, 10), fin(1), encodeEnd(FRAME.RESET, 1, 300, '')])
      peer.write(frame);
    peer.write(open(3));
    await waitFor(() => accepted.length === 2);
    expect(session.acceptsStreams).toBe(true);
  });

  it('skips frames of types reserved for later versions', async () => {
    for (const frame of [encodeFrame(8, 0), encodeFrame(200, 7, Buffer.from('abc')), open(1)]) peer.write(frame);
    await waitFor(() => accepted.length === 1);
    expect(session.acceptsStreams).toBe(true);
  });

  it('ends the session before a peer that never reads fills memory with PINGs', async () => {
    session.close();
    const [end, other] = duplexPair();
    // `other` has no reader, so the session's responses stay there.
    session = new MuxSession(duplexTransport(end), { role: 'server', clock: (clock = fakeClock()) });
    peer = other;
    peer.on('error', () => undefined);
    const pings = Buffer.concat(Array.from({ length: 4_000 }, () => encodeFrame(FRAME.PING, 0, Buffer.alloc(8))));
    let isOver = false;
    void session.closed.then(() => (isOver = true));
    await waitFor(() => {
      if (peer.writable) peer.write(pings);
      return !session.acceptsStreams;
    });
    await clock.advance(2_000);
    await waitFor(() => isOver);
    expect(await session.closed).toMatchObject({ resetCode: MUX_CODES.TIMEOUT });
  });

  it('ends the session after a GOAWAY with an error', async () => {
    peer.write(encodeEnd(FRAME.GOAWAY, 0, MUX_CODES.PROTOCOL_ERROR, 'you began it'));
    expect(await session.closed).toMatchObject({
      resetCode: MUX_CODES.PROTOCOL_ERROR,
      reason: 'you began it',
      remote: true,
    });
  });

  it('refuses each stream above the limit, at no cost', async () => {
    for (let id = 1; id < 2_000; id += 2) peer.write(open(id));
    const refusal = encodeEnd(FRAME.RESET, 1_999, MUX_CODES.REFUSED, 'too many streams');
    await waitFor(() => Buffer.concat(received).includes(refusal));
    expect([accepted.length, session.streamCount]).toEqual([4, 4]);
  });
});

describe('arbitrary bytes', () => {
  it('never throws out of a session, which either lives or closes with all of its streams', async () => {
    const id = fc.constantFrom(0, 1, 2, 3, 4, 5, 2 ** 31 + 1);
    const code = fc.nat({ max: 10 });
    const frame = fc.oneof(
      { weight: 4, arbitrary: id.map(open) },
      { weight: 4, arbitrary: fc.tuple(id, fc.nat({ max: 300 })).map(([each, size]) => data(each, size)) },
      { weight: 2, arbitrary: id.map(fin) },
      { weight: 2, arbitrary: fc.tuple(id, code).map(([each, value]) => encodeEnd(FRAME.RESET, each, value, 'r')) },
      {
        weight: 2,
        arbitrary: fc.tuple(id, fc.nat({ max: 2 ** 31 })).map(([each, credit]) => encodeWindow(each, credit)),
      },
      { weight: 1, arbitrary: fc.constant(encodeFrame(FRAME.PING, 0, Buffer.alloc(8))) },
      { weight: 1, arbitrary: fc.constant(encodeFrame(FRAME.PONG, 0, Buffer.alloc(8))) },
      { weight: 1, arbitrary: code.map((value) => encodeEnd(FRAME.GOAWAY, 0, value, '')) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 25 }), fc.boolean(), async (frames, answers) => {
        session.close();
        peer.destroy();
        start();
        for (const each of frames) {
          peer.write(each);
          if (answers) for (const stream of accepted) if (stream.writable) stream.write('answer');
        }
        await new Promise((resolve) => setImmediate(resolve));
        expect(session.streamCount).toBeLessThanOrEqual(4);
        session.close();
        peer.destroy();
        await session.closed;
        expect(session.streamCount).toBe(0);
        expect(accepted.every((stream) => stream.destroyed)).toBe(true);
        expect(clock.pendingTimers()).toBe(0);
      }),
      { numRuns: 400 },
    );
  });
});
