import { Agent, type ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';

/** More idle connections would only hold flow-control windows on both sides. */
const MAX_FREE = 64;

/** An `http.Agent` whose connections are tunnel streams, kept for reuse and closed when idle. */
export class StreamAgent extends Agent {
  readonly #open: () => Duplex;
  readonly #idleMs: number;
  readonly #timers = new WeakMap<Duplex, NodeJS.Timeout>();

  /** With `idleMs` 0, each connection serves one request. */
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
      setTimeout(() => stream.destroy(), this.#idleMs).unref(), // an idle stream must not keep the process alive
    );
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    clearTimeout(this.#timers.get(stream));
    // Removes the idle listeners, which would otherwise leak on each reuse. It also calls `ref`, which streams lack.
    super.reuseSocket(Object.assign(stream, { ref: () => stream }), request);
  }
}
