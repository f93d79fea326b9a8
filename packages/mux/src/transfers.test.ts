import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { selfSignedCertificate, waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { duplexTransport } from './duplex-transport.ts';
import { joinStreams } from './join-streams.ts';
import { messageTransport } from './message-transport.ts';
import { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';
import type { MuxTransport } from './transport.ts';

const MIB = 1024 * 1024;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type Dial = () => Promise<[MuxTransport, MuxTransport]>;

async function overTcp(): Promise<[MuxTransport, MuxTransport]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const accepted = once(server, 'connection') as Promise<[Socket]>; // the event's payload
  const socket = connect(portOf(server), '127.0.0.1');
  return [duplexTransport(socket), duplexTransport((await accepted)[0])];
}

async function overTls(): Promise<[MuxTransport, MuxTransport]> {
  const certificate = await selfSignedCertificate();
  const server = createTlsServer(certificate).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const accepted = once(server, 'secureConnection') as Promise<[Duplex]>;
  const socket = connectTls({ port: portOf(server), host: '127.0.0.1', servername: 'localhost', ca: certificate.cert });
  return [duplexTransport(socket), duplexTransport((await accepted)[0])];
}

async function overWebSocket(): Promise<[MuxTransport, MuxTransport]> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, maxPayload: MIB });
  await once(server, 'listening');
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  const socket = new WebSocket(`ws://127.0.0.1:${portOf(server)}`, { perMessageDeflate: false, maxPayload: MIB });
  await once(socket, 'open');
  return [messageTransport(socket), messageTransport((await accepted)[0])];
}

function portOf(server: { address(): unknown }): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null || !('port' in address)) throw new Error('it does not listen');
  return Number(address.port);
}

async function start(dial: Dial, onStream: (stream: MuxStream) => void): Promise<[MuxSession, MuxSession]> {
  const [left, right] = await dial();
  const client = new MuxSession(left, { role: 'client' });
  const server = new MuxSession(right, { role: 'server', onStream });
  cleanups.push(async () => {
    client.close();
    await Promise.all([client.closed, server.closed]);
  });
  return [client, server];
}

/** Yields this many distinct MiB without holding them all in memory. */
function* body(sizeMib: number, seed: Buffer): Generator<Buffer> {
  for (let index = 0; index < sizeMib; index += 1) {
    const block = Buffer.alloc(MIB, seed);
    block.writeUInt32BE(index, 0);
    yield block;
  }
}

async function md5(source: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash('md5');
  for await (const chunk of source) hash.update(chunk);
  return hash.digest('hex');
}

describe.each<[string, Dial]>([
  ['TCP', overTcp],
  ['TLS', overTls],
  ['a WebSocket', overWebSocket],
])('transfers over %s', (_name, dial) => {
  it('delivers 64 MiB unchanged, in one stream and in four at once, both ways', async () => {
    const [client] = await start(dial, (stream) => void pipeline(stream, stream).catch(() => undefined));
    const echo = async (sizeMib: number): Promise<void> => {
      const seed = randomBytes(997);
      const stream = client.open();
      const sending = pipeline(Readable.from(body(sizeMib, seed)), stream, { end: true });
      const [seen] = await Promise.all([md5(stream as AsyncIterable<Buffer>), sending.catch(() => undefined)]);
      expect(seen).toBe(await md5(body(sizeMib, seed)));
    };
    await echo(64);
    await Promise.all([echo(16), echo(16), echo(16), echo(16)]);
    await waitFor(() => client.streamCount === 0);
  }, 120_000);

  it('delivers 64 MiB and the end unchanged if both sides lend their reads', async () => {
    const [client] = await start(dial, (stream) => {
      // A second session behind the first, as behind a platform: relays borrowed bytes and echoes them.
      void joinStreams(stream, relay.open());
    });
    const [relay] = await start(dial, (stream) => {
      stream.lend((bytes) => stream.writeCopy(bytes));
      stream.on('drain', () => stream.lendMore());
      stream.on('end', () => stream.end());
    });
    const seed = randomBytes(997);
    const stream = client.open();
    const sending = pipeline(Readable.from(body(64, seed)), stream, { end: true }).catch(() => undefined);
    const seen = createHash('md5');
    stream.lend((bytes) => {
      seen.update(bytes);
      return true;
    });
    await Promise.all([once(stream, 'end'), sending]);
    expect(seen.digest('hex')).toBe(await md5(body(64, seed)));
    await waitFor(() => client.streamCount === 0);
  }, 120_000);

  it('delivers 32 MiB from one reused buffer, next to a stream with a pausing reader', async () => {
    const [client] = await start(dial, (stream) => {
      if (stream.metadata.toString() === 'rests') setTimeout(() => stream.pipe(stream), 50);
      else stream.pipe(stream);
    });
    const buffer = Buffer.alloc(128 * 1024);
    const copyOver = async (name: string): Promise<void> => {
      const seed = randomBytes(997);
      const stream = client.open(Buffer.from(name));
      const seen = md5(stream as AsyncIterable<Buffer>);
      for (const block of body(16, seed)) {
        for (let offset = 0; offset < block.length; offset += buffer.length) {
          block.copy(buffer, 0, offset);
          if (!stream.writeCopy(buffer)) await once(stream, 'drain');
        }
      }
      stream.end();
      expect(await seen).toBe(await md5(body(16, seed)));
    };
    await Promise.all([copyOver('runs'), copyOver('rests')]);
  }, 120_000);

  it('holds one window for a stream without a reader, while bulk passes with flat memory', async () => {
    let stalled: MuxStream | undefined;
    const sums: Promise<string>[] = [];
    const [client, server] = await start(dial, (stream) => {
      if (stream.metadata.toString() === 'stalled') stalled = stream;
      else sums.push(md5(stream as AsyncIterable<Buffer>));
    });
    const seed = randomBytes(997);
    const blocked = client.open(Buffer.from('stalled'));
    const blocking = pipeline(Readable.from(body(1_024, seed)), blocked).catch(() => 'ended');
    await waitFor(() => server.unreadBytes >= MIB);
    const before = process.memoryUsage().rss;
    let highest = before;
    const watching = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 10);
    const bulk = client.open(Buffer.from('bulk'));
    await pipeline(Readable.from(body(128, seed)), bulk);
    clearInterval(watching);
    bulk.resume();
    expect(await sums[0]).toBe(await md5(body(128, seed)));
    expect(server.unreadBytes).toBeLessThan(2 * MIB);
    expect((highest - before) / MIB).toBeLessThan(100);
    stalled?.destroy();
    expect(await blocking).toBe('ended');
  }, 120_000);
});

describe('a broken connection', () => {
  it('ends every stream on both sides in the middle of transfers, and leaves nothing behind', async () => {
    const ended: MuxStream[] = [];
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    cleanups.push(() => new Promise((resolve) => listener.close(resolve)));
    const accepted = once(listener, 'connection') as Promise<[Socket]>;
    const socket = connect(portOf(listener), '127.0.0.1');
    const client = new MuxSession(duplexTransport(socket), { role: 'client' });
    const server = new MuxSession(duplexTransport((await accepted)[0]), {
      role: 'server',
      onStream: (stream) => void stream.resume().on('close', () => ended.push(stream)),
    });
    const sends = Array.from({ length: 20 }, () => {
      const stream = client.open();
      return pipeline(Readable.from(body(1_000, randomBytes(97))), stream).then(
        () => 'sent',
        () => 'cut',
      );
    });
    await waitFor(() => server.traffic.receivedBytes > 20 * MIB);
    socket.resetAndDestroy();
    expect(new Set(await Promise.all(sends))).toEqual(new Set(['cut']));
    await Promise.all([client.closed, server.closed]);
    await waitFor(() => ended.length === 20);
    expect([client.streamCount, server.streamCount]).toEqual([0, 0]);
  });
});
