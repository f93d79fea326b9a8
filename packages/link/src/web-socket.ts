import { systemClock, type Clock } from '@svc/runtime';
import type { RawData, WebSocket } from 'ws';

/** The bytes of a received message, copied only if `ws` delivers it in fragments. */
export function messageBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Resolves when the message has left this process, which holds a sender back while the network is slow. */
export function sendText(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

/** The part of a WebSocket that a heartbeat uses. */
export interface PingedSocket {
  readonly readyState: number;
  readonly OPEN: number;
  ping(): void;
  terminate(): void;
  on(event: 'pong', listener: () => void): unknown;
}

const MAX_MISSED_PONGS = 2;

/** Terminates a WebSocket whose peer misses two pings in a row. One timer can beat for many sockets. */
export class Heartbeat {
  readonly #socket: PingedSocket;
  #missedPongs = 0;

  constructor(socket: PingedSocket) {
    this.#socket = socket;
    socket.on('pong', () => {
      this.#missedPongs = 0;
    });
  }

  /** Call it at every interval, 20 seconds for terminals. */
  beat(): void {
    const socket = this.#socket;
    if (this.#missedPongs >= MAX_MISSED_PONGS) socket.terminate();
    else if (socket.readyState === socket.OPEN) {
      this.#missedPongs += 1;
      socket.ping();
    }
  }
}

/** A connection that was not established in time, with the code of the system's own timeouts. */
export class DialTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(what: string, timeoutMs: number) {
    super(`${what}: no answer in ${timeoutMs} ms`);
    this.name = 'DialTimeout';
  }
}

/** The time limit of a WebSocket handshake. */
export interface HandshakeLimit {
  /** Call when the handshake has succeeded or failed. */
  release(): void;
  /** Returns a `DialTimeout` instead of the socket's error if the limit ended the handshake. */
  explain(cause: Error): Error;
}

/** Ends a handshake after `timeoutMs`. Unlike the option of `ws`, its error can be recognized by its code. */
export function limitHandshake(
  socket: Pick<WebSocket, 'terminate'>,
  timeoutMs: number,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): HandshakeLimit {
  let isLate = false;
  const release = clock.setTimer(() => {
    isLate = true;
    socket.terminate();
  }, timeoutMs);
  return { release, explain: (cause) => (isLate ? new DialTimeout('the WebSocket handshake', timeoutMs) : cause) };
}
