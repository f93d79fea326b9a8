import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HelperConnection } from './helper-connection.ts';
import {
  createFrameDecoder,
  encodeDataFrame,
  encodeFrame,
  encodeJsonFrame,
  FrameType,
  ProtocolViolation,
  STREAM_WINDOW_BYTES,
} from './frames.ts';

const HELLO = encodeJsonFrame(FrameType.hello, 0, { protocol: 1 });

/** Anything a hostile helper could send, including well-formed frames. */
const hostileBytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 3 }), fc.uint8Array({ maxLength: 200 }))
    .map(([type, stream, payload]) => encodeFrame(type, stream, payload)),
  fc
    .tuple(fc.constantFrom(FrameType.control, FrameType.end, FrameType.hello), fc.jsonValue())
    .map(([type, value]) => encodeJsonFrame(type, 1, value ?? null)),
);

describe('HelperConnection', () => {
  let folder: TemporaryFolder;
  let server: Server;
  let greeting: Buffer[];
  let path: string;
  let sockets: Socket[];
  const open = () => HelperConnection.open(path, AbortSignal.timeout(10_000));
  const helper = async (): Promise<Socket> => waitFor(() => sockets.at(-1));

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'agent.sock');
    greeting = [HELLO];
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      for (const bytes of greeting) socket.write(bytes);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  it('refuses what a helper of an earlier version would ignore', async () => {
    const earlier = await open();
    expect(() => earlier.require('users')).toThrow(expect.objectContaining({ code: 'HELPER_OUTDATED', status: 409 }));
    greeting = [encodeJsonFrame(FrameType.hello, 0, { protocol: 1, features: ['users', 7, null] })];
    const current = await open();
    expect(() => current.require('users')).not.toThrow();
    expect(() => current.require('attributes')).toThrow('stop and start it');
    await Promise.all([earlier.close(), current.close()]);
  });

  it('refuses a request that is larger than a frame, and starts others', async () => {
    const connection = await open();
    const large = connection.start({ op: 'process.start', env: { A: 'x'.repeat(2 * 1024 * 1024) } });
    expect(await large.outcome).toMatchObject({ ok: false, code: 'INVALID_COMMAND' });
    const stream = connection.start({ op: 'process.start' });
    (await helper()).write(encodeJsonFrame(FrameType.end, stream.id, { result: {} }));
    expect(await stream.outcome).toMatchObject({ ok: true });
    await connection.close();
  });

  it('survives any input from a helper: streams and connection end, nothing throws', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileBytes, { minLength: 1, maxLength: 12 }), async (chunks) => {
        const connection = await open();
        const stream = connection.start({ op: 'process.start' }, { data: (bytes) => stream.consumed(bytes.length) });
        const socket = await helper();
        for (const chunk of chunks) socket.write(chunk);
        socket.end();
        await stream.outcome;
        await connection.closed;
      }),
      { numRuns: 150 },
    );
  });

  it('refuses a helper with an invalid greeting, another protocol version or no greeting', async () => {
    for (const bytes of [
      Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
      encodeJsonFrame(FrameType.hello, 0, { protocol: 2 }),
      encodeJsonFrame(FrameType.end, 1, { result: {} }),
    ]) {
      greeting = [bytes];
      await expect(open()).rejects.toBeInstanceOf(ProtocolViolation);
    }
    greeting = [];
    await expect(HelperConnection.open(path, AbortSignal.timeout(50))).rejects.toThrow();
  });

  it.each([
    ['sends beyond the window', Array.from({ length: 5 }, () => encodeDataFrame(1, 1, Buffer.alloc(65_535)))],
    ['names a stream that is not open', [encodeJsonFrame(FrameType.end, 9, { result: {} })]],
    ['grants more than was sent', [encodeFrame(FrameType.credit, 1, Buffer.from([0, 0, 0, 1]))]],
    ['greets twice', [HELLO]],
    ['pings', [encodeFrame(FrameType.ping, 0, Buffer.alloc(0))]],
  ])('cuts the connection to a helper that %s', async (_what, frames) => {
    const connection = await open();
    const stream = connection.start({ op: 'process.start' }, { data: () => undefined });
    for (const frame of frames) (await helper()).write(frame);
    expect(await stream.outcome).toMatchObject({ ok: false, code: 'LOST' });
    expect(await connection.closed).toBeInstanceOf(ProtocolViolation);
  });

  it('accepts no more than one window of unread output, in large or minimal frames', async () => {
    for (const sizeBytes of [65_535, 1]) {
      const connection = await open();
      let taken = 0;
      const stream = connection.start({ op: 'file.read' }, { data: (bytes) => (taken += bytes.length) });
      const socket = await helper();
      const flood = Buffer.concat(
        Array.from({ length: (2 * STREAM_WINDOW_BYTES) / (sizeBytes + 1) }, () =>
          encodeDataFrame(1, 1, Buffer.alloc(sizeBytes)),
        ),
      );
      for (let sent = 0; sent < 8 && !socket.destroyed; sent += 1) socket.write(flood);
      expect(await stream.outcome).toMatchObject({ ok: false, code: 'LOST' });
      expect(await connection.closed).toBeInstanceOf(ProtocolViolation);
      expect(taken).toBeLessThanOrEqual(STREAM_WINDOW_BYTES);
    }
  });

  it('sends no more than the window until the helper grants more credit', async () => {
    const connection = await open();
    const stream = connection.start({ op: 'process.start' });
    const socket = await helper();
    let received = 0;
    const decoder = createFrameDecoder({
      frame: () => undefined,
      data: (_stream, _channel, _bytes, costBytes) => (received += costBytes),
    });
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    const written = stream.write(Buffer.alloc(2 * STREAM_WINDOW_BYTES));
    await waitFor(() => received >= STREAM_WINDOW_BYTES / 2);
    // One event loop turn, in which excess bytes could arrive.
    await connection.start({ op: 'x' }).write(Buffer.alloc(0));
    expect(received).toBeLessThanOrEqual(STREAM_WINDOW_BYTES);
    const credit = Buffer.alloc(4);
    for (let granted = 0; granted < 2 * STREAM_WINDOW_BYTES;) {
      await waitFor(() => received > granted);
      const more = received - granted;
      credit.writeUInt32BE(more);
      socket.write(encodeFrame(FrameType.credit, 1, credit));
      granted += more;
    }
    expect(await written).toBe(true);
    await connection.close();
  });

  it('ends running streams as lost when it is closed', async () => {
    const connection = await open();
    const stream = connection.start({ op: 'process.start' });
    await connection.close();
    expect(await stream.outcome).toMatchObject({ ok: false, code: 'LOST' });
    expect(await connection.call({ op: 'file.stat' })).toMatchObject({ ok: false, code: 'LOST' });
    await expect(connection.ping()).rejects.toThrow();
  });
});
