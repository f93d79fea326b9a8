import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { constants } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { selfSignedCertificate, waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createListener, type Listener, type ListenerOptions } from '../listener.ts';

const opened: Listener[] = [];
const sockets: TLSSocket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
});

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 };
const END_STREAM = 1;
const END_HEADERS = 4;

interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A literal header that enters no table (RFC 7541, section 6.2.2), of up to 126 bytes each. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

/** `https://a/` by GET or POST, of the static table. */
const head = (method: 'GET' | 'POST'): Buffer =>
  Buffer.concat([Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x87, 0x84, 0x41, 1]), Buffer.from('a')]);
const get = (stream: number): Buffer => frame(TYPE.headers, END_STREAM | END_HEADERS, stream, head('GET'));
const post = (stream: number): Buffer => frame(TYPE.headers, END_HEADERS, stream, head('POST'));

/** A client that sends any frames. */
class RawClient {
  readonly frames: Frame[] = [];
  readonly socket: TLSSocket;
  #isClosed = false;
  #rest = Buffer.alloc(0);

  constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => (this.#isClosed = true));
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.write(PREFACE);
    this.send(frame(TYPE.settings, 0, 0));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(...frames: Buffer[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(frames));
  }

  find(type: number, stream: number): Frame | undefined {
    return this.frames.find((each) => each.type === type && each.stream === stream);
  }

  resetOf(stream: number): number | undefined {
    return this.find(TYPE.reset, stream)?.payload.readUInt32BE(0);
  }

  async closed(): Promise<number | undefined> {
    await waitFor(() => this.isClosed);
    return this.find(TYPE.goaway, 0)?.payload.readUInt32BE(4);
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const stream = this.#rest.readUInt32BE(5);
      this.frames.push({ type: this.#rest.readUInt8(3), stream, payload: this.#rest.subarray(9, end) });
      this.#rest = this.#rest.subarray(end);
    }
  }
}

async function start(options: Partial<ListenerOptions> = {}): Promise<{ port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const listener = createListener({
    handler: (request) => void requests.push(request), // holds every request
    http2: true,
    tls: await selfSignedCertificate(),
    ...options,
  });
  opened.push(listener);
  return { port: await listener.listen(0, '127.0.0.1'), requests };
}

async function dial(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return new RawClient(socket);
}

const ids = (count: number): number[] => Array.from({ length: count }, (_, index) => 2 * index + 1);

describe('a client that resets its streams', () => {
  it('loses its connection before they amount to much work', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    for (const id of ids(5_000)) client.send(get(id), frame(TYPE.reset, 0, id, number(constants.NGHTTP2_CANCEL)));
    await client.closed();
    expect(requests.length).toBeLessThan(2_500); // the number that is allowed, and what was read together with the last
  });

  it('also if it provokes the resets', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    for (const id of ids(5_000)) client.send(get(id), frame(TYPE.windowUpdate, 0, id, number(2 ** 31 - 1)));
    await client.closed();
    expect(requests.length).toBeLessThan(2_500);
  });

  it('cannot make a partial body look whole, whatever its code', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    for (const [index, code] of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL].entries()) {
      const id = 2 * index + 1;
      client.send(post(id), frame(TYPE.data, 0, id, Buffer.from('half')));
      const request = await waitFor(() => requests[index]);
      const body = buffer(request);
      await waitFor(() => request.socket.bytesRead === 4);
      client.send(frame(TYPE.reset, 0, id, number(code)));
      await expect(body).rejects.toThrow(/aborted|Premature close/);
      expect(request.complete).toBe(false);
    }
  });
});

describe('a client that opens more streams than it may', () => {
  it.each([
    ['they are refused', 12, false],
    ['it loses its connection if it goes on', 500, false],
    ['it loses its connection if it knows better', 12, true],
  ])('has the rest refused before any handler: %s', async (_what, count, acknowledges) => {
    const { port, requests } = await start({ limits: { maxStreamsPerConnection: 10 } });
    const client = await dial(port);
    if (acknowledges) client.send(frame(TYPE.settings, 1, 0));
    client.send(...ids(count).map(get));
    if (count > 12 || acknowledges) await client.closed();
    else await waitFor(() => client.resetOf(21) !== undefined && client.resetOf(23) !== undefined);
    expect(requests).toHaveLength(10);
    if (client.isClosed) return;
    expect([client.resetOf(21), client.resetOf(23)]).toEqual([
      constants.NGHTTP2_REFUSED_STREAM,
      constants.NGHTTP2_REFUSED_STREAM,
    ]);
  });
});

describe('a client that sends long heads', () => {
  it.each([
    ['number', 200, ''],
    ['size', 60, 'v'.repeat(120)],
  ])('gets the stream reset that exceeds the %s; others live on', async (_what, count, value) => {
    const { port, requests } = await start({ limits: { maxHeaderSizeBytes: 4_096 } });
    const client = await dial(port);
    client.send(frame(TYPE.settings, 1, 0)); // until it acknowledges them, the limits are those of the library
    const headers = Array.from({ length: count }, (_, index) => literal(`x-${index}`, value));
    client.send(frame(TYPE.headers, END_STREAM | END_HEADERS, 1, Buffer.concat([head('GET'), ...headers])));
    await waitFor(() => client.resetOf(1) !== undefined);
    expect(client.resetOf(1)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    client.send(get(3));
    await waitFor(() => requests.length === 1);
  });

  it('loses its connection if one never ends', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    client.send(frame(TYPE.headers, END_STREAM, 1, head('GET')));
    for (let count = 0; count < 100; count += 1) client.send(frame(TYPE.continuation, 0, 1, literal('x', 'y')));
    await client.closed();
    expect(requests).toHaveLength(0);
  });
});

describe('a client that sends bodies which the handler does not read', () => {
  it('loses its connection if it sends them byte by byte', async () => {
    const { port } = await start();
    const client = await dial(port);
    client.send(post(1), ...Array.from({ length: 5_000 }, () => frame(TYPE.data, 0, 1, Buffer.alloc(1))));
    expect(await client.closed()).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it('may send them byte by byte to a handler that reads', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    client.send(post(1));
    const read = buffer(await waitFor(() => requests[0]));
    client.send(...Array.from({ length: 5_000 }, () => frame(TYPE.data, 0, 1, Buffer.alloc(1))));
    client.send(frame(TYPE.data, END_STREAM, 1));
    expect(await read).toHaveLength(5_000);
  });
});

it('keeps only the unread bodies of what a client sends, not what arrived with them', async () => {
  const { port, requests } = await start();
  const client = await dial(port);
  const [held = 0, ...read] = ids(8);
  client.send(...[held, ...read].map(post));
  const request = await waitFor(() => (requests.length === 8 ? requests[0] : undefined));
  const others = requests.slice(1).map((each) => once(each.resume(), 'end'));
  const sizeBytes = 300;
  const rounds = read.flatMap((id) => Array.from({ length: 16 }, () => id)); // as many as the windows allow
  for (const id of rounds) {
    client.send(frame(TYPE.data, 0, id, Buffer.alloc(15_000)), frame(TYPE.data, 0, held, Buffer.alloc(sizeBytes)));
  }
  client.send(...[held, ...read].map((id) => frame(TYPE.data, END_STREAM, id)));
  await Promise.all(others);
  const kept = new Set<ArrayBufferLike>();
  request.on('data', (piece: Buffer) => kept.add(piece.buffer));
  await once(request, 'end');
  const keptBytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(request.socket.bytesRead).toBe(rounds.length * sizeBytes);
  expect(keptBytes).toBeLessThanOrEqual(4 * rounds.length * sizeBytes);
});

describe('a client that sends frames without meaning', () => {
  it('loses its connection: empty pieces of a body', async () => {
    const { port, requests } = await start();
    const client = await dial(port);
    client.send(post(1));
    await waitFor(() => requests.length === 1);
    client.send(...Array.from({ length: 1_000 }, () => frame(TYPE.data, 0, 1)));
    await client.closed();
  });

  it.each([
    ['pings', frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
    ['settings', frame(TYPE.settings, 0, 0)],
  ])('loses its connection if it does not read the answers: %s', async (_what, one) => {
    const { port } = await start();
    const client = await dial(port);
    client.socket.pause();
    const many = Buffer.concat(Array.from({ length: 10_000 }, () => one));
    // More than the buffers between the two hold.
    for (let count = 0; count < 200 && !client.isClosed; count += 1) {
      await new Promise<void>((resolve) => void client.socket.write(many, () => resolve()));
    }
    client.socket.resume();
    await client.closed();
  });

  it('loses its connection if it speaks HTTP/1 after it chose HTTP/2', async () => {
    const { port, requests } = await start();
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'close');
    expect(requests).toHaveLength(0);
  });
});
