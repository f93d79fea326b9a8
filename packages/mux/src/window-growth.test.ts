import { FrameDecoder } from '@svc/link';
import { Readable, Transform, duplexPair, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { duplexTransport } from './duplex-transport.ts';
import { FRAME, INITIAL_WINDOW_BYTES, MUX_FRAMES } from './frames.ts';
import { MuxSession, type MuxSessionOptions } from './session.ts';

const MIB = 1024 * 1024;
const DELAY_MS = 25;

/** Delays everything in order, without limiting bandwidth. */
function delayed(from: Duplex, to: Duplex, watch: (chunk: Buffer) => void): void {
  const delay = new Transform({
    highWaterMark: 64 * MIB,
    transform(chunk: Buffer, _encoding, done) {
      watch(chunk);
      setTimeout(() => this.push(chunk), DELAY_MS);
      done();
    },
    flush: (done) => void setTimeout(done, DELAY_MS),
  });
  from.pipe(delay).pipe(to);
}

/** Sends 24 MiB over a link with latency and returns the largest credit granted at once. */
async function largestCredit(limits: MuxSessionOptions['limits']): Promise<number> {
  const [left, leftInner] = duplexPair({ highWaterMark: 64 * MIB });
  const [right, rightInner] = duplexPair({ highWaterMark: 64 * MIB });
  let largest = 0;
  const decoder = new FrameDecoder(MUX_FRAMES, {
    dataBegins: () => undefined,
    data: () => undefined,
    frame: (type, _id, payload) => {
      if (type === FRAME.WINDOW) largest = Math.max(largest, payload.readUInt32BE(0));
    },
  });
  delayed(leftInner, rightInner, () => undefined);
  delayed(rightInner, leftInner, (chunk) => decoder.push(chunk));
  const client = new MuxSession(duplexTransport(left), { role: 'client' });
  const options: MuxSessionOptions = { role: 'server', onStream: (stream) => void stream.resume().end() };
  const server = new MuxSession(duplexTransport(right), limits === undefined ? options : { ...options, limits });
  await waitFor(() => server.roundTripMs !== null);
  const blocks = Readable.from(Array.from({ length: 24 }, () => Buffer.alloc(MIB)));
  const stream = client.open();
  stream.resume();
  await pipeline(blocks, stream);
  await waitFor(() => client.streamCount + server.streamCount === 0);
  client.close();
  server.close();
  await Promise.all([client.closed, server.closed]);
  return largest;
}

it('grows the window on a link with latency, so that it does not limit a transfer', async () => {
  expect(await largestCredit(undefined)).toBeGreaterThan(INITIAL_WINDOW_BYTES);
});

it('keeps one window if the session has no growth left', async () => {
  expect(await largestCredit({ windowGrowthBytes: 0 })).toBeLessThanOrEqual(INITIAL_WINDOW_BYTES);
});
