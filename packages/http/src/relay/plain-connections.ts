import type { LendingStream } from '@svc/bytes';
import { PlainConnection } from './plain-connection.ts';

/** Connections of a pool that is full of them would only hold windows on both sides. */
const MAX_FREE = 64;

/** Connections to one server: kept for the next request, closed when they were free for too long. */
export class PlainConnections {
  readonly #open: () => LendingStream;
  readonly #idleMs: number;
  /** The last one that became free is taken first, so that those which nobody needs grow old. */
  readonly #free: PlainConnection[] = [];
  #isSweeping = false;

  constructor(open: () => LendingStream, idleMs: number) {
    this.#open = open;
    this.#idleMs = idleMs;
  }

  /** `isKept`: it was used before, so that the other side may be closing it in this very moment. */
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

  /** One timer for all: a timer for each request would cost more than the request's own bookkeeping. */
  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const sweep = (): void => {
      this.#isSweeping = false;
      const oldest = performance.now() - this.#idleMs;
      for (const connection of this.#free.filter(({ freeSinceMs }) => freeSinceMs <= oldest)) connection.destroy();
      if (this.#free.length > 0) this.#sweepLater();
    };
    setTimeout(sweep, this.#idleMs / 4).unref(); // connections that wait hold no process
  }
}
