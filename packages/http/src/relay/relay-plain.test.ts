import { once } from 'node:events';
import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import {
  connect,
  createServer as createRawServer,
  type AddressInfo,
  type Server as RawServer,
  type Socket,
} from 'node:net';
import { text } from 'node:stream/consumers';
import { BlockMemory, type LendingStream } from '@svc/bytes';
import { UnansweredRequest } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlainConnections } from './plain-connections.ts';
import { hasSmallBody, isPlain, readSmallBody, relayPlain } from './relay-plain.ts';
import { relayRequest, RelayTimeout, type RelayTarget } from './relay-request.ts';

/** Behavior of the backend for each connection. */
let behave: (socket: Socket) => void;
let backend: RawServer;
let front: Server;
let connectionCount: number;
let fault: unknown;
let timeoutMs: number;
const sockets = new Set<Socket>();
const portOf = (server: RawServer | Server): number => (server.address() as AddressInfo).port; // TCP listeners

beforeEach(async () => {
  connectionCount = 0;
  fault = null;
  timeoutMs = 30_000;
  backend = createRawServer((socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('error', () => undefined); // cut by the peer
    behave(socket);
  });
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const connections = new PlainConnections(openLending, 60_000);
  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = ['Host', 'backend', 'X-Plain', String(isPlain(request))];
    const length = request.headers['content-length'];
    if (length !== undefined) headers.push('Content-Length', length);
    const body = hasSmallBody(request) ? await readSmallBody(request, response) : undefined;
    if (body === null) return;
    await relayPlain(request, response, { connections, path: request.url ?? '/', headers, timeoutMs }, body);
  };
  front = createServer((request, response) => {
    relay(request, response).catch((error: unknown) => {
      fault = error;
      response.writeHead(502).end();
    });
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  front.closeAllConnections();
  await Promise.all([new Promise((done) => front.close(done)), new Promise((done) => backend.close(done))]);
});

const memory = new BlockMemory();

/** A connection that lends every read from one buffer, which is overwritten immediately. */
function openLending(): LendingStream {
  const socket = connect(portOf(backend), '127.0.0.1');
  const scratch = Buffer.alloc(64 * 1024);
  const lend = (take: (bytes: Buffer) => boolean): void => {
    socket.on('data', (chunk) => {
      for (let offset = 0; offset < chunk.length; offset += scratch.length) {
        const lengthBytes = chunk.copy(scratch, 0, offset);
        if (!take(scratch.subarray(0, lengthBytes))) socket.pause();
        scratch.fill(0xff);
      }
    });
  };
  return Object.assign(socket, { memory, lend, lendMore: () => socket.resume() });
}

async function get(path = '/', method = 'GET', body?: string): Promise<IncomingMessage> {
  const outgoing = sendRequest({ port: portOf(front), host: '127.0.0.1', path, method, agent: false });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return incoming;
}

/** Answers each request with this text verbatim. */
function answering(answer: string | ((requests: number) => string)): void {
  let requests = 0;
  behave = (socket) => {
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
      if (!received.endsWith('\r\n\r\n')) return;
      received = '';
      requests += 1;
      socket.write(typeof answer === 'string' ? answer : answer(requests));
    });
  };
}

const HELLO = 'HTTP/1.1 200 Fine\r\nX-A: b\r\nConnection: x-hop\r\nX-Hop: 1\r\nContent-Length: 5\r\n\r\nhello';

describe('relayPlain', () => {
  it('passes status, end-to-end headers and body, and keeps the connection', async () => {
    answering(HELLO);
    for (let count = 0; count < 3; count += 1) {
      const incoming = await get();
      expect([incoming.statusCode, incoming.statusMessage, incoming.headers['x-a']]).toEqual([200, 'Fine', 'b']);
      expect(incoming.headers['x-hop']).toBeUndefined();
      expect(await text(incoming)).toBe('hello');
    }
    expect(connectionCount).toBe(1);
  });

  it('sends again what a kept connection swallowed as it was closed', async () => {
    let isFirst = true;
    behave = (socket) => {
      let requests = 0;
      const closes = isFirst;
      isFirst = false;
      socket.on('data', () => {
        requests += 1;
        if (closes && requests === 2) socket.destroy();
        else socket.write(HELLO);
      });
    };
    expect(await text(await get())).toBe('hello');
    expect(await text(await get())).toBe('hello');
    expect(connectionCount).toBe(2);
  });

  it('sends a small body with its head, and never twice', async () => {
    const received: string[] = [];
    behave = (socket) => {
      socket.on('data', (bytes) => {
        received.push(bytes.toString().replace(/^[^]*\r\n\r\n/, ''));
        if (received.length === 3) socket.destroy();
        else socket.write(HELLO);
      });
    };
    for (const body of ['{"a":1}', '{"b":2}']) expect(await text(await get('/', 'POST', body))).toBe('hello');
    expect((await get('/', 'POST', '{"c":3}')).statusCode).toBe(502);
    expect(fault).toBeInstanceOf(Error);
    expect(received).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
    expect(connectionCount).toBe(1);
  });

  it('reads no further body of a request that was answered meanwhile, or whose client left before', async () => {
    const read = new Map<string, PromiseWithResolvers<Buffer | null>>();
    const server = createServer((request, response) => {
      const begin = (): void => read.get(request.url ?? '')?.resolve(readSmallBody(request, response));
      if (request.url === '/answered') {
        begin();
        response.writeHead(401, { connection: 'close' }).end();
      } else {
        response.once('close', begin);
        request.socket.destroy();
      }
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    for (const path of ['/answered', '/left']) {
      const done = Promise.withResolvers<Buffer | null>();
      read.set(path, done);
      const headers = { 'content-length': '10' };
      const outgoing = sendRequest({
        port: portOf(server),
        host: '127.0.0.1',
        path,
        method: 'POST',
        headers,
        agent: false,
      });
      outgoing.on('error', () => undefined);
      outgoing.write('half');
      expect(await done.promise).toBeNull();
      outgoing.destroy();
    }
    await new Promise((done) => server.close(done));
  });

  it('passes chunks, trailers and interim answers, and needs no body after HEAD', async () => {
    answering(
      'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n' +
        '5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n',
    );
    const incoming = await get();
    expect(await text(incoming)).toBe('hello');
    expect(incoming.trailers['x-sum']).toBe('1');
    answering('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
    for (const socket of sockets) socket.destroy();
    const head = await get('/', 'HEAD');
    expect([head.headers['content-length'], await text(head)]).toEqual(['5', '']);
  });

  it('sends the head before the first byte of the body, as a watch needs it', async () => {
    let socket: Socket | undefined;
    behave = (given) => {
      socket = given;
      given.once('data', () => given.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'));
    };
    const incoming = await get();
    socket?.write('3\r\none\r\n');
    expect(String((await once(incoming, 'data'))[0])).toBe('one');
    incoming.destroy();
    if (socket !== undefined && !socket.closed) await once(socket, 'close'); // the caller left
  });

  it('holds a fast server back for a slow reader', async () => {
    const total = 64 * 1024 * 1024;
    let sentBytes = 0;
    behave = (socket) => {
      const more = (): void => {
        while (sentBytes < total) {
          sentBytes += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', more);
        }
      };
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
        more();
      });
    };
    const incoming = await get(); // paused: no reader
    let before = -1;
    await expect
      .poll(
        () => {
          const stands = before === sentBytes;
          before = sentBytes;
          return stands;
        },
        { interval: 200 },
      )
      .toBe(true);
    expect(sentBytes).toBeLessThan(total);
    let readBytes = 0;
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      expect(chunk.equals(Buffer.alloc(chunk.length))).toBe(true);
      readBytes += chunk.length;
    }
    expect(readBytes).toBe(total);
  });

  it('cuts the answer when it was cut itself', async () => {
    answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    const incoming = await get();
    for (const socket of sockets) socket.destroy();
    await expect(text(incoming)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('ends an answer without length with its connection', async () => {
    behave = (socket) => socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it'));
    expect(await text(await get())).toBe('all of it');
  });

  it('never takes what follows an answer for the next one', async () => {
    answering(`${HELLO}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged`);
    expect(await text(await get())).toBe('hello');
    expect(await text(await get())).toBe('hello');
    expect(connectionCount).toBe(2);
  });

  it.each([
    ['what is no HTTP', 'SSH-2.0-x\r\n\r\n', 'MalformedAnswer'],
    ['a protocol nobody asked for', 'HTTP/1.1 101 Switching\r\n\r\n', 'MalformedAnswer'],
  ])('refuses %s', async (_name, answer, name) => {
    answering(answer);
    expect((await get()).statusCode).toBe(502);
    expect(fault).toMatchObject({ name });
  });

  it('says that no answer came in time', async () => {
    timeoutMs = 50;
    behave = () => undefined;
    expect((await get()).statusCode).toBe(502);
    expect(fault).toBeInstanceOf(RelayTimeout);
  });
});

describe('relayRequest', () => {
  it.each(['GET', 'POST'])('rejects if the server answers a %s with another protocol', async (method) => {
    answering('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    front.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = { host: '127.0.0.1', port: portOf(backend) };
      const headers = ['Host', 'backend'];
      const target: RelayTarget = { agent: false, connection, path: '/', headers, timeoutMs };
      relayRequest(request, response, target).catch((error: unknown) => {
        fault = error;
        response.writeHead(502).end();
      });
    });
    expect((await get('/', method)).statusCode).toBe(502);
    expect(fault).toBeInstanceOf(UnansweredRequest);
  });
});
