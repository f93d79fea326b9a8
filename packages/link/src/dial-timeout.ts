import { systemClock, type Clock } from '@svc/runtime';
import type { WebSocket } from 'ws';

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
