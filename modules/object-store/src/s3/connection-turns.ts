import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Limit on pipelined requests; no S3 client pipelines at all. */
const MAX_WAITING = 64;

interface Turn {
  incoming: IncomingMessage;
  response: ServerResponse;
  run: () => void;
}

interface Turns {
  running: Turn;
  waiting: Turn[];
}

/**
 * Runs the requests of one connection in order: a pipelined request sees the store as the previous one leaves it (RFC
 * 9112 section 9.3.2), and is dropped after a response that closes the connection (section 9.6).
 */
export class ConnectionTurns {
  readonly #turns = new WeakMap<Duplex, Turns>();

  take(incoming: IncomingMessage, response: ServerResponse, run: () => void): void {
    const { socket } = incoming;
    const turn = { incoming, response, run };
    const turns = this.#turns.get(socket);
    if (turns === undefined) {
      const fresh = { running: turn, waiting: [] };
      this.#turns.set(socket, fresh);
      this.#begin(socket, fresh);
    } else if (turns.waiting.length < MAX_WAITING) {
      turns.waiting.push(turn);
    } else {
      socket.destroy();
    }
  }

  /** The exchange in progress on a connection. */
  running(socket: Duplex): { incoming: IncomingMessage; response: ServerResponse } | null {
    return this.#turns.get(socket)?.running ?? null;
  }

  #begin(socket: Duplex, turns: Turns): void {
    const { response, run } = turns.running;
    response.once('close', () => this.#end(socket, turns));
    run();
  }

  #end(socket: Duplex, turns: Turns): void {
    const { response } = turns.running;
    const next = turns.waiting.shift();
    this.#turns.delete(socket);
    if (next === undefined || endsConnection(response) || socket.destroyed) return;
    turns.running = next;
    this.#turns.set(socket, turns);
    this.#begin(socket, turns);
  }
}

function endsConnection(response: ServerResponse): boolean {
  return !response.shouldKeepAlive || response.getHeader('connection') === 'close';
}
