import type { LendingStream } from '@svc/bytes';
import { PlainConnection } from './plain-connection.ts';

/** More idle connections would only hold windows on both sides. */
const MAX_FREE = 64;

/** Pool of connections to one server. Keeps them for later requests; closes those idle for too long. */
export class PlainConnections {
  readonly #open: () => LendingStream;
  readonly #idleMs: number;
  /** Most recently used first, so that surplus connections age out. */
  readonly #free: PlainConnection[] = [];
  #isSweeping = false;

  constructor(open: () => LendingStream, idleMs: number) {
    this.#open = open;
    this.#idleMs = idleMs;
  }

  /** `isKept`: the connection was used before, so the server may be closing it right now. */
  take(): { connection: PlainConnection; isKept: boolean } {
    for (let kept = this.#free.pop(); kept !== undefined; kept = this.#free.pop()) {
      if (kept.isOpen) return { connection: kept, isKept: true };
    }
    return {
      connection: new PlainConnection(
        this.#open(),
        (connection) => this.#keep(connection),
        (connection) => this.#forget(connection),
      ),
      isKept: false,
    };
  }

  #keep(connection: PlainConnection): void {
    if (this.#free.length >= MAX_FREE) return connection.destroy();
    connection.freeSinceMs = performance.now();
    this.#free.push(connection);
    this.#sweepLater();
  }

  #forget(connection: PlainConnection): void {
    const at = this.#free.lastIndexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }

  /** One timer for all connections; a timer per request would cost more than the request's own bookkeeping. */
  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const sweep = (): void => {
      this.#isSweeping = false;
      const oldest = performance.now() - this.#idleMs;
      for (const connection of this.#free.filter(({ freeSinceMs }) => freeSinceMs <= oldest)) connection.destroy();
      if (this.#free.length > 0) this.#sweepLater();
    };
    setTimeout(sweep, this.#idleMs / 4).unref(); // idle connections must not keep the process alive
  }
}
