import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HelperConnection } from '../helper/helper-connection.ts';
import { encodeDataFrame, encodeFrame, encodeJsonFrame, FrameType } from '../helper/frames.ts';
import { PortSocket } from '../preview/port-socket.ts';
import { ArchiveReading } from './archive-reading.ts';
import { ArchiveWriting } from './archive-writing.ts';
import { FileReading } from './file-reading.ts';
import { FileWatch } from './file-watch.ts';

const HELLO = encodeJsonFrame(FrameType.hello, 0, { protocol: 1 });

/** Plausible frames for the one open stream, and arbitrary ones. */
const frames = fc.oneof(
  fc
    .tuple(fc.constantFrom(FrameType.control, FrameType.end), fc.jsonValue())
    .map(([type, value]) => encodeJsonFrame(type, 1, value ?? null)),
  fc
    .constantFrom('begun', 'watching', 'connected', 'eof', 'stat')
    .map((type) => encodeJsonFrame(FrameType.control, 1, { type })),
  fc
    .constantFrom(
      { result: {} },
      { result: { entries: -1, bytes: 'x' } },
      { error: { code: 'DISK_FULL', message: '' } },
    )
    .map((end) => encodeJsonFrame(FrameType.end, 1, end)),
  fc.uint8Array({ maxLength: 3000 }).map((bytes) => encodeDataFrame(1, 1, bytes)),
  fc.jsonValue().map((value) => encodeDataFrame(1, 1, Buffer.from(`${JSON.stringify(value)}\n`))),
  fc
    .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 }), fc.uint8Array({ maxLength: 64 }))
    .map(([type, stream, payload]) => encodeFrame(type, stream, payload)),
);

/** Each use runs to its end like a real caller; a thrown error becomes the caller's response. */
const uses: readonly (readonly [string, (connection: HelperConnection) => Promise<void>])[] = [
  [
    'a read',
    async (connection) => {
      await using reading = await FileReading.open(connection, '/x', {}, () => undefined);
      for await (const chunk of reading.chunks()) expect(chunk.length).toBeGreaterThanOrEqual(0);
    },
  ],
  [
    'a folder that is sent',
    async (connection) => {
      const reading = await ArchiveReading.open(connection, '/x', () => undefined);
      await reading.writeTo(new PassThrough().resume());
    },
  ],
  [
    'an archive that is unpacked',
    async (connection) => {
      const writing = new ArchiveWriting(connection, '/x', { maxBytes: 1 }, () => undefined);
      await writing.write(Buffer.alloc(1000));
      await writing.finish();
    },
  ],
  [
    'a watch',
    async (connection) => {
      const watch = await FileWatch.open(connection, '/x', { recursive: true });
      for await (const change of watch.changes()) expect(change.path.length).toBeLessThanOrEqual(8192);
    },
  ],
  [
    'a connection to a port',
    async (connection) => {
      const socket = await PortSocket.open(connection, 80, new AbortController().signal);
      socket.on('error', () => undefined);
      socket.end('x');
      for await (const chunk of socket) expect((chunk as Buffer).length).toBeGreaterThan(0);
    },
  ],
];

describe('responses of a hostile helper', () => {
  let folder: TemporaryFolder;
  let server: Server;
  let sockets: Socket[];
  let path: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'agent.sock');
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write(HELLO);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  it.each(uses)('end %s with a result or an error, and nothing else', async (_name, use) => {
    await fc.assert(
      fc.asyncProperty(fc.array(frames, { minLength: 1, maxLength: 10 }), async (sent) => {
        const connection = await HelperConnection.open(path, AbortSignal.timeout(10_000));
        const over = use(connection).then(
          () => null,
          (error: unknown) => error,
        );
        const socket = await waitFor(() => sockets.at(-1));
        for (const frame of sent) socket.write(frame);
        socket.end();
        const error = await over;
        expect(error === null || error instanceof Error).toBe(true);
        await connection.close();
      }),
      { numRuns: 80 },
    );
  });
});
