import { Duplex, duplexPair } from 'node:stream';
import { fakeClock, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  encodeDataFrame,
  encodeFrame,
  encodeJsonFrame,
  FrameType,
  MAX_DATA_BYTES,
} from '../../../domain/helper/frames.ts';
import { writeHeader } from '../../../domain/archives/archive-header.ts';
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { measureRoot, openArchive, openRoot, restoreRoot } from './pod-files.ts';

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;
const PIECE = Buffer.alloc(MAX_DATA_BYTES - 1, 7);

/** What the helper of a cluster that belongs to others may do: anything. */
describe('the files of a pod', () => {
  let clock: FakeClock;
  let connection: HelperConnection;
  let far: Duplex;
  let open: (stream: number) => void;
  let resets: number;

  beforeEach(async () => {
    clock = fakeClock();
    resets = 0;
    open = () => undefined;
    const [near, other] = duplexPair();
    far = other;
    const decoder = createFrameDecoder({
      frame: (type, stream) => {
        if (type === FrameType.open) open(stream);
        if (type === FrameType.reset) resets += 1;
      },
      data: () => undefined,
    });
    far.on('data', (chunk: Buffer) => decoder.push(chunk));
    far.write(encodeJsonFrame(FrameType.hello, 0, { protocol: 1, pid: 1, features: ['root'] }));
    connection = await HelperConnection.over(near, AbortSignal.timeout(5000));
  });
  afterEach(async () => {
    far.destroy();
    await connection.close();
  });

  const begin = (stream: number, architecture: unknown = 'amd64'): void =>
    void far.write(encodeJsonFrame(FrameType.control, stream, { type: 'begun', architecture }));
  const send = (stream: number, bytes: Buffer): void => void far.write(encodeDataFrame(stream, 1, bytes));
  const end = (stream: number, message: object): void =>
    void far.write(encodeJsonFrame(FrameType.end, stream, message));
  const opened = (maxBytes: number, signal = NEVER) => openRoot(connection, maxBytes, signal, clock);
  const drain = async (content: AsyncIterable<Uint8Array>): Promise<number> => {
    let bytes = 0;
    for await (const chunk of content) bytes += chunk.length;
    return bytes;
  };
  /** Lets time pass in steps, since each timer is set after the previous one. */
  const pass = async (ms: number, stepMs = 1000): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(stepMs);
    }
  };
  const failureOf = (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => new Error('it succeeded'),
      (error: Error) => error,
    );

  it('are passed on whole, with their architecture', async () => {
    open = (stream) => {
      begin(stream);
      send(stream, PIECE);
      end(stream, { result: {} });
    };
    const root = await opened(MIB);
    expect(root.architecture).toBe('amd64');
    expect(await drain(root.content)).toBe(PIECE.length);
  });

  it('fail when their helper fails, so that nothing incomplete counts', async () => {
    open = (stream) => {
      begin(stream);
      send(stream, PIECE);
      end(stream, { error: { code: 'IO_ERROR', message: 'a disk is broken' } });
    };
    await expect(drain((await opened(MIB)).content)).rejects.toThrow('a disk is broken');
  });

  it('fail when there are more than were measured, without end', async () => {
    open = (stream) => {
      begin(stream);
      for (let sent = 0; sent <= MIB / 2; sent += PIECE.length) send(stream, PIECE);
    };
    const { content } = await opened(MIB / 4);
    await expect(drain(content)).rejects.toThrow(`it sent more than the ${MIB / 4} bytes that it has`);
    await expect.poll(() => resets).toBe(1);
  });

  it('fail when nothing arrives for a minute, also before the first byte', async () => {
    const silent = failureOf(opened(MIB));
    await pass(61_000);
    expect((await silent).message).toContain('arrive too slowly');
    open = (stream) => {
      begin(stream);
      send(stream, PIECE);
    };
    const { content } = await opened(MIB);
    const stalled = failureOf(drain(content));
    await pass(61_000);
    expect((await stalled).message).toContain('arrive too slowly');
  });

  it('fail when they trickle, although something always arrives', async () => {
    let id = 0;
    open = (stream) => {
      id = stream;
      begin(stream);
    };
    const { content } = await opened(64 * MIB);
    const trickling = failureOf(drain(content));
    for (let half = 0; half < 6; half += 1) {
      send(id, Buffer.alloc(1)); // within each minute
      await pass(30_000);
    }
    expect((await trickling).message).toContain('arrive too slowly');
  });

  it('are waited for as long as it is the reader that is slow', async () => {
    open = (stream) => {
      begin(stream);
      send(stream, PIECE);
      end(stream, { result: {} });
    };
    const { content } = await opened(MIB);
    for await (const _ of content) await pass(3_600_000, 600_000);
  });

  it('fail without an architecture, and with an unknown one', async () => {
    open = (stream) => end(stream, { result: {} });
    await expect(opened(MIB)).rejects.toThrow('does not name its architecture');
    open = (stream) => begin(stream, 'x'.repeat(1000));
    await expect(opened(MIB)).rejects.toThrow('names no architecture');
    open = (stream) => begin(stream, { toString: 1 });
    await expect(opened(MIB)).rejects.toThrow('names no architecture');
  });

  it('end with the signal', async () => {
    open = (stream) => begin(stream);
    const stop = new AbortController();
    const { content } = await opened(MIB, stop.signal);
    const stopped = failureOf(drain(content));
    stop.abort(new Error('shutting down'));
    expect((await stopped).message).toBe('shutting down');
  });

  it('are measured only by a number that a sandbox can have, and in time', async () => {
    for (const bytes of [-1, 0.5, '1', null, 1e18]) {
      open = (stream) => end(stream, { result: { bytes } });
      await expect(measureRoot(connection, clock)).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
    }
    open = () => undefined;
    const late = failureOf(measureRoot(connection, clock));
    await pass(301_000, 100_000);
    expect((await late).message).toContain('has not answered');
  });

  it('are restored no longer than the start may take', async () => {
    const stop = new AbortController();
    const content = async function* () {
      yield Buffer.from('files');
    };
    const stuck = failureOf(restoreRoot(connection, { architecture: 'amd64' }, content(), stop.signal));
    await pass(1000);
    stop.abort(new Error('too late'));
    expect((await stuck).message).toBe('too late');
  });

  it('stop being restored at an abort while a read of them hangs, and are closed', async () => {
    const stop = new AbortController();
    const read = Promise.withResolvers<void>();
    let isOver = false;
    const unanswered = async function* () {
      try {
        yield writeHeader({ architecture: 'amd64' });
        await read.promise;
        yield Buffer.from('files');
      } finally {
        isOver = true;
      }
    };
    const source = { base: null, open: unanswered, openBase: () => Promise.resolve(null) };
    const saved = await openArchive(source, stop.signal);
    const stuck = failureOf(saved.restore(connection, stop.signal));
    await pass(1000);
    stop.abort(new Error('too late'));
    expect((await stuck).message).toBe('too late');
    expect((await failureOf(saved.close())).message).toBe('too late');
    expect([connection.lost, isOver]).toEqual([true, false]);
    read.resolve();
    await expect.poll(() => isOver).toBe(true);
  });

  it('are restored no longer than that either by a helper that grants everything and reads nothing', async () => {
    const stop = new AbortController();
    const granted = Buffer.alloc(4);
    granted.writeUInt32BE(512 * 1024);
    const hello = encodeJsonFrame(FrameType.hello, 0, { protocol: 1, pid: 1, features: ['root'] });
    const unread = new Duplex({ read: () => undefined, write: () => undefined });
    unread.push(hello);
    const stuckAt = await HelperConnection.over(unread, AbortSignal.timeout(5000));
    const content = async function* () {
      for (let sent = 0; sent < 2 * MIB; sent += MIB) yield Buffer.alloc(MIB);
    };
    const stuck = failureOf(restoreRoot(stuckAt, { architecture: 'amd64' }, content(), stop.signal));
    unread.push(encodeFrame(FrameType.credit, 1, granted));
    await expect.poll(() => unread.listenerCount('drain')).toBe(1);
    stop.abort(new Error('too late'));
    expect((await stuck).message).toBe('too late');
    expect(stuckAt.lost).toBe(true);
  });
});
