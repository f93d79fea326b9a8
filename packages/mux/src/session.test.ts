import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { duplexTransport } from './duplex-transport.ts';
import { MUX_CODES, MuxError } from './errors.ts';
import { MuxSession, type MuxSessionOptions } from './session.ts';
import type { MuxStream } from './stream.ts';

let clock: FakeClock;
let client: MuxSession;
let server: MuxSession;
let ends: [Duplex, Duplex];
let accepted: MuxStream[];

function start(options: { client?: Partial<MuxSessionOptions>; server?: Partial<MuxSessionOptions> } = {}): void {
  accepted = [];
  clock = fakeClock();
  ends = duplexPair();
  client = new MuxSession(duplexTransport(ends[0]), { role: 'client', clock, ...options.client });
  server = new MuxSession(duplexTransport(ends[1]), {
    role: 'server',
    clock,
    onStream: (stream) => void accepted.push(stream),
    ...options.server,
  });
}

/** Both ends of a stream. */
async function openPair(metadata = ''): Promise<[MuxStream, MuxStream]> {
  const own = client.open(Buffer.from(metadata));
  const other = await waitFor(() => accepted.find((stream) => stream.id === own.id));
  return [own, other];
}

async function waitForFailure(stream: MuxStream): Promise<MuxError> {
  const error: unknown = await finished(stream).catch((failure: unknown) => failure);
  if (!(error instanceof MuxError)) throw new Error('it did not fail', { cause: error });
  return error;
}

beforeEach(() => start());

afterEach(async () => {
  client.close();
  server.close();
  await clock.advance(2_000); // for sessions that no longer receive anything
  await Promise.all([client.closed, server.closed]);
  expect(clock.pendingTimers()).toBe(0);
});

describe('a stream', () => {
  it('carries its metadata, and bytes in both directions', async () => {
    const [own, other] = await openPair('{"forward":"grafana"}');
    expect(other.metadata.toString()).toBe('{"forward":"grafana"}');
    own.end('question');
    expect(await text(other)).toBe('question');
    other.end('answer');
    expect(await text(own)).toBe('answer');
    await waitFor(() => client.streamCount + server.streamCount === 0);
  });

  it('can be opened by either side, with its own ids', async () => {
    const fromServer: MuxStream[] = [];
    client.close();
    server.close();
    await Promise.all([client.closed, server.closed]);
    start({ client: { onStream: (stream) => void fromServer.push(stream) } });
    const opened = [client.open(), server.open(), client.open(), server.open()];
    expect(opened.map((stream) => stream.id)).toEqual([1, 2, 3, 4]);
    await waitFor(() => accepted.length === 2 && fromServer.length === 2);
  });

  it('is writable before the peer knows of it', async () => {
    const own = client.open();
    own.end('early');
    const other = await waitFor(() => accepted[0]);
    expect(await text(other)).toBe('early');
  });

  it('can end in one direction and continue in the other', async () => {
    const [own, other] = await openPair();
    own.end();
    await once(other.resume(), 'end');
    other.write('still ');
    other.end('here');
    expect(await text(own)).toBe('still here');
  });

  it('accepts an empty write', async () => {
    const [own, other] = await openPair();
    await new Promise<void>((resolve) => own.write(Buffer.alloc(0), () => resolve()));
    own.end('x');
    expect(await text(other)).toBe('x');
  });

  it('ends on both sides with code and reason after a reset, and drops unread bytes', async () => {
    const [own, other] = await openPair();
    own.write('unread');
    const [ownFailure, otherFailure] = [waitForFailure(own), waitForFailure(other)];
    own.reset(300, 'pod is gone');
    expect(await ownFailure).toMatchObject({ resetCode: 300, reason: 'pod is gone', remote: false });
    expect(await otherFailure).toMatchObject({ resetCode: 300, reason: 'pod is gone', remote: true });
    await waitFor(() => client.streamCount + server.streamCount === 0);
  });

  it('tells the peer when destroyed: cancelled, or an internal error without its text', async () => {
    const [first, second] = [await openPair(), await openPair()];
    const failures = [waitForFailure(first[1]), waitForFailure(second[1])];
    first[0].destroy();
    second[0].destroy(new Error('password is hunter2'));
    expect(await Promise.all(failures)).toEqual([
      expect.objectContaining({ resetCode: MUX_CODES.CANCELLED }),
      expect.objectContaining({ resetCode: MUX_CODES.INTERNAL_ERROR, reason: '' }),
    ]);
  });

  it('needs no error listener for a reset', async () => {
    const [own, other] = await openPair();
    own.reset(300);
    await waitFor(() => other.destroyed);
  });

  it('rejects metadata that does not fit a frame', () => {
    expect(() => client.open(Buffer.alloc(4097))).toThrow(RangeError);
  });

  it('is reset if its handler throws, while the session continues', async () => {
    client.close();
    server.close();
    await Promise.all([client.closed, server.closed]);
    start({
      server: {
        onStream: (stream) => {
          if (stream.metadata.toString() === 'bad') throw new Error('cannot');
          stream.end('fine');
        },
      },
    });
    expect(await waitForFailure(client.open(Buffer.from('bad')))).toMatchObject({
      resetCode: MUX_CODES.INTERNAL_ERROR,
    });
    expect(await text(client.open(Buffer.from('good')))).toBe('fine');
  });
});

describe('a stream without a reader', () => {
  it('buffers one window, then blocks its writer, and resumes once it is read', async () => {
    const [own, other] = await openPair();
    const body = Buffer.alloc(5 * 1024 * 1024, 'x');
    own.end(body);
    await waitFor(() => server.unreadBytes >= 1024 * 1024);
    const [small, smallOther] = await openPair();
    small.end('past it');
    expect(await text(smallOther)).toBe('past it');
    expect(server.unreadBytes).toBeLessThanOrEqual(1024 * 1024 + 64 * 1024);
    expect(own.writableFinished).toBe(false);
    expect((await buffer(other)).equals(body)).toBe(true);
    await waitFor(() => server.unreadBytes === 0);
  });
});

describe('concurrent streams', () => {
  it('take turns, so that a small one finishes long before an earlier bulk transfer', async () => {
    const [bulk, bulkOther] = await openPair();
    const [small, smallOther] = await openPair();
    let bulkBytes = 0;
    let before: number | undefined;
    bulkOther.on('data', (chunk: Buffer) => (bulkBytes += chunk.length));
    smallOther.resume().once('end', () => (before = bulkBytes));
    const body = Buffer.alloc(64 * 1024 * 1024);
    bulk.end(body);
    small.end('past it');
    await finished(bulkOther, { writable: false });
    expect(bulkBytes).toBe(body.length);
    expect(before).toBeLessThan(body.length / 4);
  });
});

describe('the stream limit', () => {
  beforeEach(async () => {
    client.close();
    server.close();
    await Promise.all([client.closed, server.closed]);
    start({ client: { limits: { maxOutgoingStreams: 3 } }, server: { limits: { maxIncomingStreams: 2 } } });
  });

  it('makes the accepting side refuse one more stream, while open streams continue', async () => {
    const [first, second, third] = [client.open(), client.open(), client.open()];
    expect(await waitForFailure(third)).toMatchObject({ resetCode: MUX_CODES.REFUSED, remote: true });
    await waitFor(() => accepted.length === 2);
    first.destroy();
    await waitFor(() => server.streamCount === 1);
    const fourth = client.open();
    await waitFor(() => accepted.length === 3);
    expect([second.destroyed, fourth.destroyed]).toEqual([false, false]);
  });

  it('makes open throw on the opening side', () => {
    client.open();
    client.open();
    client.open();
    expect(() => client.open()).toThrow(expect.objectContaining({ resetCode: MUX_CODES.REFUSED, remote: false }));
  });

  it('is zero for a side that accepts no streams', async () => {
    expect(await waitForFailure(server.open())).toMatchObject({ resetCode: MUX_CODES.REFUSED });
  });
});

describe('closing a session', () => {
  it('lets open streams end, refuses new ones on both sides, then closes', async () => {
    let draining = 0;
    client.close();
    server.close();
    await Promise.all([client.closed, server.closed]);
    start({ client: { onDraining: () => (draining += 1) } });
    const [own, other] = await openPair();
    const drained = server.drain(60_000);
    await waitFor(() => draining === 1);
    expect(() => client.open()).toThrow(expect.objectContaining({ resetCode: MUX_CODES.GOING_AWAY }));
    expect(() => server.open()).toThrow(expect.objectContaining({ resetCode: MUX_CODES.GOING_AWAY }));
    expect(client.acceptsStreams).toBe(false);
    own.end('last words');
    other.end('understood');
    expect(await Promise.all([text(own), text(other)])).toEqual(['understood', 'last words']);
    await drained;
    expect(await client.closed).toBe(null);
  });

  it('resets a stream that crossed the GOAWAY, so that it can be retried elsewhere', async () => {
    const [held] = await openPair();
    const drained = server.drain(60_000);
    const crossing = client.open();
    expect(await waitForFailure(crossing)).toMatchObject({ resetCode: MUX_CODES.GOING_AWAY, remote: true });
    held.destroy();
    await drained;
  });

  it('waits no longer than the grace period', async () => {
    const [own] = await openPair();
    const failure = waitForFailure(own);
    const drained = server.drain(5_000);
    await clock.advance(4_999);
    expect(own.destroyed).toBe(false);
    await clock.advance(1);
    await drained;
    expect(await failure).toMatchObject({ resetCode: MUX_CODES.CONNECTION_LOST });
  });

  it('ends every stream on both sides when closed immediately', async () => {
    const pairs = [await openPair(), await openPair()];
    const failures = pairs.flat().map(waitForFailure);
    client.close();
    for (const failure of await Promise.all(failures)) expect(failure.resetCode).toBe(MUX_CODES.CONNECTION_LOST);
    expect([await client.closed, await server.closed]).toEqual([null, null]);
    expect(() => client.open()).toThrow(expect.objectContaining({ resetCode: MUX_CODES.CONNECTION_LOST }));
  });

  it('reports a broken connection to every stream, with the reason', async () => {
    const [own, other] = await openPair();
    const failures = [waitForFailure(own), waitForFailure(other)];
    ends[0].destroy(new Error('cable cut'));
    const [ownFailure, otherFailure] = await Promise.all(failures);
    expect(ownFailure?.message).toContain('cable cut');
    expect(otherFailure?.resetCode).toBe(MUX_CODES.CONNECTION_LOST);
    expect(await client.closed).toMatchObject({ resetCode: MUX_CODES.CONNECTION_LOST });
    expect(await server.closed).toMatchObject({ resetCode: MUX_CODES.CONNECTION_LOST });
  });

  it('does not wait forever for the peer to close', async () => {
    ends[1].pause();
    ends[1].removeAllListeners('data');
    client.close();
    await clock.advance(2_000);
    await client.closed;
  });
});

describe('liveness', () => {
  // Only one side pings: with both on one clock, it would be undefined which gives up first.
  beforeEach(async () => {
    client.close();
    server.close();
    await Promise.all([client.closed, server.closed]);
    start({ server: { limits: { pingIntervalMs: 0 } } });
  });

  it('measures the round trip at once', async () => {
    await waitFor(() => client.roundTripMs !== null);
    expect(client.roundTripMs).toBe(0);
  });

  it('pings more often at first, then every four seconds', async () => {
    await waitFor(() => client.roundTripMs !== null);
    for (const pauseMs of [250, 1000, 4000, 4000]) {
      const { sentBytes, receivedBytes } = client.traffic;
      await clock.advance(pauseMs - 1);
      expect(client.traffic.sentBytes).toBe(sentBytes);
      await clock.advance(1);
      await waitFor(() => client.traffic.receivedBytes > receivedBytes);
    }
  });

  it('closes a session that receives nothing within six seconds of a PING', async () => {
    const [own] = await openPair();
    await waitFor(() => client.roundTripMs !== null);
    ends[1].removeAllListeners('data'); // the peer receives nothing any more, so it answers nothing
    ends[1].resume();
    await clock.advance(250 + 5_999);
    expect(own.destroyed).toBe(false);
    await clock.advance(1);
    expect(await client.closed).toMatchObject({ resetCode: MUX_CODES.TIMEOUT });
    expect(own.destroyed).toBe(true);
  });

  it('counts anything that arrives as a sign of life', async () => {
    const [own, other] = await openPair();
    own.resume();
    await waitFor(() => client.roundTripMs !== null);
    ends[1].removeAllListeners('data');
    ends[1].resume();
    await clock.advance(250);
    for (let count = 0; count < 5; count += 1) {
      const received = client.traffic.receivedBytes;
      other.write('still here');
      await waitFor(() => client.traffic.receivedBytes > received);
      await clock.advance(5_999);
    }
    expect(own.destroyed).toBe(false);
  });
});
