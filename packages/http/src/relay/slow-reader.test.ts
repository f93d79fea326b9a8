import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { BlockMemory, type LendingStream } from '@svc/bytes';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_LISTENER_LIMITS } from '../listener-limits.ts';
import { PlainConnections } from './plain-connections.ts';
import { relayPlain } from './relay-plain.ts';
import { relayRequest } from './relay-request.ts';

const IDLE_MS = DEFAULT_LISTENER_LIMITS.idleTimeoutMs;
/** Until the answer has arrived, which starts a timer. */
const MOST_TURNS = 100_000;

type Relay = (request: IncomingMessage, response: ServerResponse, port: number) => Promise<void>;

const memory = new BlockMemory();
const relays: Readonly<Record<string, Relay>> = {
  relayRequest: (request, response, port) =>
    relayRequest(request, response, {
      agent: false,
      connection: { port },
      path: '/',
      headers: ['Host', 'backend'],
      timeoutMs: 0,
    }),
  relayPlain: (request, response, port) => {
    const connections = new PlainConnections(() => openLending(port), 60_000);
    return relayPlain(request, response, { connections, path: '/', headers: ['Host', 'backend'], timeoutMs: 0 });
  },
};

function openLending(port: number): LendingStream {
  const socket = connect(port);
  const lend = (take: (bytes: Buffer) => boolean): void => {
    socket.on('data', (chunk) => {
      if (!take(chunk)) socket.pause();
    });
  };
  return Object.assign(socket, { memory, lend, lendMore: () => socket.resume() });
}

/** The connection of a client that sends a request and reads nothing, until `readOne` takes one write. */
class Reader extends Duplex {
  readonly #pending: (() => void)[] = [];
  #hasAsked = false;

  override _read(): void {
    if (!this.#hasAsked) this.push('GET / HTTP/1.1\r\nHost: front\r\n\r\n');
    this.#hasAsked = true;
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    this.#pending.push(done);
  }

  async readOne(): Promise<void> {
    const done = this.#pending.shift();
    if (done === undefined) throw new Error('there is nothing to read');
    done();
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

describe.each(Object.entries(relays))('a client of %s that has a whole answer', (_name, relay) => {
  let backend: Server;
  let front: Server;
  let responses: ServerResponse[];
  let reader: Reader;

  beforeEach(async () => {
    backend = createServer((_request, answer) => {
      answer.write('some');
      answer.end('more');
    });
    await once(backend.listen(0), 'listening');
    const { port } = backend.address() as AddressInfo; // it listens on a port
    responses = [];
    front = createServer((request, given) => {
      responses.push(given);
      void relay(request, given, port);
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    reader = new Reader();
    reader.on('error', () => undefined);
    front.emit('connection', reader);
    for (let count = 0; count < MOST_TURNS && vi.getTimerCount() === 0; count += 1) await turn();
  });
  afterEach(async () => {
    vi.useRealTimers();
    reader.destroy();
    backend.closeAllConnections();
    await new Promise((done) => backend.close(done));
  });

  it('is cut when it reads nothing for the idle time', () => {
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(responses[0]?.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(responses[0]?.destroyed).toBe(true);
  });

  it('may read slowly, until it stops', async () => {
    for (let count = 0; count < 2; count += 1) {
      await reader.readOne();
      vi.advanceTimersByTime(IDLE_MS);
      expect(responses[0]?.destroyed).toBe(false);
    }
    vi.advanceTimersByTime(IDLE_MS);
    expect(responses[0]?.destroyed).toBe(true);
  });
});
