import { duplexPair, type Duplex } from 'node:stream';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  encodeDataFrame,
  encodeFrame,
  encodeJsonFrame,
  FrameType,
  STREAM_WINDOW_BYTES,
} from '../domain/helper/frames.ts';
import { HelperConnection } from '../domain/helper/helper-connection.ts';
import { StreamRelay } from './stream-relay.ts';

const PIECE = Buffer.alloc(32 * 1024 - 1, 'x');
const NEVER = new AbortController().signal;

/** Sends as much as it is granted, without an end, until it is reset; echoes nothing. */
function flood(socket: Duplex): void {
  let leftBytes = STREAM_WINDOW_BYTES;
  const send = (stream: number): void => {
    for (; leftBytes > PIECE.length; leftBytes -= PIECE.length + 1) socket.write(encodeDataFrame(stream, 1, PIECE));
  };
  const decoder = createFrameDecoder({
    data: () => undefined,
    frame: (type, stream, payload) => {
      if (type === FrameType.credit) leftBytes += payload.readUInt32BE(0);
      if (type === FrameType.open || type === FrameType.credit) send(stream);
      const error = { code: 'ABORTED', message: 'the stream was reset' };
      if (type === FrameType.reset) socket.write(encodeJsonFrame(FrameType.end, stream, { error }));
    },
  });
  socket.on('data', (chunk: Buffer) => decoder.push(chunk));
  socket.write(encodeJsonFrame(FrameType.hello, 0, { protocol: 1, features: [] }));
}

describe('a relayed operation', () => {
  let helper: HelperConnection;
  let replica: HelperConnection;
  let relayed: Promise<void>;
  /** The two ends of the connection between the replicas. */
  let near: Duplex;
  let far: Duplex;
  /** The helper's end of its connection. */
  let inside: Duplex;

  beforeEach(async () => {
    let outside: Duplex;
    [inside, outside] = duplexPair();
    flood(inside);
    helper = await HelperConnection.over(outside, NEVER);
    [near, far] = duplexPair();
    const entered = { connection: helper, used: () => undefined, leave: () => undefined };
    relayed = new StreamRelay(far, entered, { kind: 'exec' }).run();
    replica = await HelperConnection.over(near, NEVER);
  });
  afterEach(async () => {
    await replica.close();
    await relayed;
    await helper.close();
  });

  it('sends no more than the other replica has granted, and goes on when it grants more', async () => {
    let receivedBytes = 0;
    const stream = replica.start({ op: 'process.start' }, { data: (bytes) => void (receivedBytes += bytes.length) });
    await waitFor(() => receivedBytes > STREAM_WINDOW_BYTES - 64 * 1024);
    const first = receivedBytes; // one byte more than granted would end the connection
    stream.consumed(first);
    await waitFor(() => receivedBytes > first);
    expect(replica.lost).toBe(false);
  });

  it('ends when the other replica abandons it, although nothing more is granted then', async () => {
    let receivedBytes = 0;
    const stream = replica.start({ op: 'process.start' }, { data: (bytes) => void (receivedBytes += bytes.length) });
    await waitFor(() => receivedBytes > STREAM_WINDOW_BYTES - 64 * 1024);
    stream.abandon();
    expect(await stream.outcome).toMatchObject({ ok: false, code: 'ABORTED' });
  });

  it('is cut by a message that is too large for a frame once it is encoded again', async () => {
    let receivedBytes = 0;
    const stream = replica.start({ op: 'process.start' }, { data: (bytes) => void (receivedBytes += bytes.length) });
    await waitFor(() => receivedBytes > STREAM_WINDOW_BYTES - 64 * 1024);
    // Each byte that is not UTF-8 becomes three.
    const text = Buffer.alloc(512 * 1024, 0xff);
    inside.write(encodeFrame(FrameType.control, 1, Buffer.concat([Buffer.from('{"a":"'), text, Buffer.from('"}')])));
    stream.consumed(receivedBytes);
    await relayed;
    expect(far.destroyed).toBe(true);
  });

  it('is the only one of its connection, and is cut when the protocol is violated', async () => {
    replica.start({ op: 'process.start' });
    replica.start({ op: 'process.start' });
    await relayed;
    expect(far.destroyed).toBe(true);
  });

  it('is cut by a frame for another stream', async () => {
    replica.start({ op: 'process.start' });
    near.write(encodeFrame(FrameType.reset, 77, Buffer.alloc(0)));
    await relayed;
    expect(far.destroyed).toBe(true);
  });
});
