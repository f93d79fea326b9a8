import { Agent, type ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';

/** Connections of a pool that is full of them would only hold windows on both sides. */
const MAX_FREE = 64;

/** An `http.Agent` whose connections are streams of a tunnel: kept for the next request, closed when idle. */
export class StreamAgent extends Agent {
  readonly #open: () => Duplex;
  readonly #idleMs: number;
  readonly #timers = new WeakMap<Duplex, NodeJS.Timeout>();

  /** With `idleMs` 0 each connection is for one request. */
  constructor(open: () => Duplex, idleMs: number) {
    super({ keepAlive: idleMs > 0, maxFreeSockets: MAX_FREE, maxTotalSockets: Infinity });
    this.#open = open;
    this.#idleMs = idleMs;
  }

  override createConnection(): Duplex {
    return this.#open();
  }

  override keepSocketAlive(stream: Duplex): boolean {
    if (this.#idleMs === 0 || stream.destroyed || stream.readableEnded) return false;
    this.#timers.set(
      stream,
      setTimeout(() => stream.destroy(), this.#idleMs).unref(), // a stream that waits holds no process
    );
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    clearTimeout(this.#timers.get(stream));
    // Its listeners for the time of waiting must go, or each use leaves one. It also asks for `ref`, which no stream has.
    super.reuseSocket(Object.assign(stream, { ref: () => stream }), request);
  }
}
